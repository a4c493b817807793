"""Values in a server's JSON, taken out strictly: what isn't as documented isn't acted on."""

from __future__ import annotations

from typing import Any

from poolwright.review.refusal import refuse_answer
from poolwright.review.transport import Api, Reply

PER_PAGE = 100


def read_object(reply: Reply, host: str) -> dict[str, Any]:
    """An answer that is one object. Raises: ReviewError."""
    found = reply.read_json(host)
    if not isinstance(found, dict):
        raise refuse_answer(f"{host} answers with JSON of another shape than its API has")
    return found


def list_entries(api: Api, path: str, query: tuple[tuple[str, str], ...], check: Any) -> list[dict[str, Any]]:
    """Every entry of a listing, page after page.

    check:  called with each page's reply, raises unless it is one.
    Raises: ReviewError, of a listing without an end too.
    """
    entries: list[dict[str, Any]] = []
    for number in range(1, api.limits.pages + 1):
        reply = api.ask("GET", path, query=(*query, ("per_page", str(PER_PAGE)), ("page", str(number))))
        check(reply)
        found = reply.read_json(api.host)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise refuse_answer(f"{api.host} answers with JSON of another shape than its API has")
        entries += found
        if len(found) < PER_PAGE:
            return entries
    raise refuse_answer(f"{api.host} lists more than {api.limits.pages * PER_PAGE:,} entries")


def take(value: object, host: str, *path: str) -> Any:
    """What stands below these keys; None where one of the objects is null. Raises: ReviewError if a key is missing."""
    for key in path:
        if value is None:
            return None
        if not isinstance(value, dict) or key not in value:
            raise refuse_answer(f"{host} answers with JSON of another shape than its API has")
        value = value[key]
    return value


def take_text(value: object, host: str, *path: str) -> str:
    """A text below these keys; empty where it is null. Raises: ReviewError."""
    found = take(value, host, *path)
    if found is not None and not isinstance(found, str):
        raise refuse_answer(f"{host} answers with JSON of another shape than its API has")
    return found or ""


def take_id(value: object, host: str, *path: str) -> int:
    """A number below these keys. Raises: ReviewError."""
    found = take(value, host, *path)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise refuse_answer(f"{host} answers with JSON of another shape than its API has")
    return found
