"""What a status other than 200 means."""

from __future__ import annotations

from poolwright.registry.refusal import CHECK_NAME, CHECK_SERVER, RefusalError, refuse_answer
from poolwright.registry.token import refuse_credentials
from poolwright.registry.transport import Reply, read_retry_after


def check_status(reply: Reply, host: str, missing: str) -> None:
    """Refuse an answer that isn't one.

    missing: completes "the host has ..." for 404.
    Raises:  RefusalError.
    """
    status = reply.status
    if status == 200:
        return
    if status in (401, 403):
        raise refuse_credentials(host, status)
    if status in (404, 410):
        raise RefusalError(code="registry-lacks", what=f"{host} has {missing} ({status})", fix=CHECK_NAME)
    if status == 429:
        seconds = read_retry_after(reply.headers)
        wait = f", and wants {seconds:,.0f} s of rest" if seconds else ""
        raise RefusalError(
            code="registry-silent", what=f"{host} was asked too often ({status}){wait}", fix="run it again later"
        )
    if status >= 500:
        raise RefusalError(code="registry-silent", what=f"{host} has an error of its own ({status})", fix=CHECK_SERVER)
    raise refuse_answer(f"{host} answers with a status that says nothing here ({status})")
