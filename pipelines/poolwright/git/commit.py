"""A commit, as far as it matters here."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Final

MAX_COMMIT_BYTES: Final = 4 << 20
_MOST_SUBJECT: Final = 500  # characters
_WHEN: Final = re.compile(rb"committer .*> (-?[0-9]{1,15})(?: [+-][0-9]{4})?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit: its whole id, the first line of its message, which may be of any characters, and its day."""

    id: str
    subject: str
    day: dt.date | None = None  # in UTC, as its committer's clock said; None: that can't be read


def parse_commit(commit_id: str, data: bytes) -> Commit:
    """The commit that its stored text says; a subject that is long is cut, bytes that can't be read are replaced."""
    headers, _, message = data.partition(b"\n\n")
    encoding = "utf-8"
    for line in headers.split(b"\n"):
        if line.startswith(b"encoding "):
            encoding = line[9:].decode("ascii", "replace")
    subject = next((line for line in message.split(b"\n") if line.strip()), b"").strip()
    try:
        text = subject.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # no encoding of text that Python knows
        text = subject.decode("utf-8", "replace")
    return Commit(id=commit_id, subject=text[:_MOST_SUBJECT], day=_find_day(headers))


def _find_day(headers: bytes) -> dt.date | None:
    for line in headers.split(b"\n"):
        found = _WHEN.fullmatch(line)
        if found:
            try:
                return (_EPOCH + dt.timedelta(seconds=int(found[1]))).date()
            except OverflowError:
                return None
    return None


_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def has_parents(data: bytes) -> bool:
    """Whether a commit's stored text names parents, whatever the history that is here shows of them."""
    return any(line.startswith(b"parent ") for line in data.partition(b"\n\n")[0].split(b"\n"))
