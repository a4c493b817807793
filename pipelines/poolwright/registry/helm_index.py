"""Charts of classic Helm repositories: what index.yaml says of a version, and the archive that it says it of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from poolwright.pins.questions import ChartName, Question
from poolwright.registry.refusal import CHECK_NAME, RefusalError, refuse_answer
from poolwright.registry.status import check_status
from poolwright.registry.transport import Transport, resolve_address

_DIGEST: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_SHOWN: Final = 5  # versions, where the wanted one isn't there
_VERSION: Final = re.compile(r"[0-9A-Za-z.+_-]{1,64}")  # what may be shown of a server's text


class HelmRepository:
    """A classic repository, its index read once."""

    def __init__(self, url: str, transport: Transport) -> None:
        """Raises: RefusalError if there is no index that can be read."""
        self._base = url.rstrip("/") + "/"
        self._host = urlsplit(url).netloc
        self._transport = transport
        self._entries = self._read_index()

    def ask(self, question: Question) -> str:
        """The digest of a chart's archive: what the index says of it, and what it has.

        Raises: RefusalError if the version isn't there, or the two differ.
        """
        if question.chart is None:
            raise AssertionError("an image isn't in a Helm repository")
        entry = self._find(question.chart)
        stated = _DIGEST.fullmatch(str(entry.get("digest", "")))
        if stated is None:
            raise refuse_answer(f"the index of {self._host} has no digest of that version")
        found = hashlib.sha256(self._read_archive(entry)).hexdigest()
        if found != stated[1]:
            what = f"the index of {self._host} has sha256:{stated[1]}, and the archive is sha256:{found}"
            raise refuse_answer(what)
        return f"sha256:{found}"

    def _read_index(self) -> dict[str, Any]:
        reply = self._transport.get(self._base + "index.yaml", most_bytes=self._transport.limits.index_bytes)
        check_status(reply, self._host, "no index.yaml there")
        try:
            # Texts only, and an alias is the value itself: nothing is expanded.
            index = yaml.load(reply.body, Loader=yaml.CBaseLoader)  # noqa: S506 (makes texts, lists and maps)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            index = None
        entries = index.get("entries") if isinstance(index, dict) else None
        if not isinstance(entries, dict):
            raise refuse_answer(f"{self._host} answers with something that isn't an index of charts")
        return entries

    def _find(self, chart: ChartName) -> dict[str, Any]:
        versions = [one for one in _list_maps(self._entries.get(chart.chart)) if isinstance(one.get("version"), str)]
        found = [one for one in versions if one["version"] == chart.version]
        if not found:
            shown = [one["version"] for one in versions if _VERSION.fullmatch(one["version"])][:_SHOWN]
            others = f"; first in its index are {', '.join(shown)}" if shown else ""
            raise RefusalError(code="registry-lacks", what=f"{self._host} has no such version{others}", fix=CHECK_NAME)
        if len({str(one.get("digest")) for one in found}) > 1:
            raise refuse_answer(f"the index of {self._host} has that version twice, with two digests")
        return found[0]

    def _read_archive(self, entry: dict[str, Any]) -> bytes:
        urls = entry.get("urls")
        if not isinstance(urls, list) or not urls or not isinstance(urls[0], str):
            raise refuse_answer(f"the index of {self._host} doesn't say where that version is")
        address = resolve_address(self._base, urls[0])
        reply = self._transport.get(address, most_bytes=self._transport.limits.archive_bytes)
        if reply.status == 404:
            raise refuse_answer(f"the index of {self._host} names an archive that isn't there (404)")
        check_status(reply, urlsplit(reply.url).netloc, "")
        return reply.body


def _list_maps(found: Any) -> Iterator[dict[str, Any]]:
    yield from (one for one in (found if isinstance(found, list) else ()) if isinstance(one, dict))
