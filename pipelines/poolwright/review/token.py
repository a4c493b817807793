"""A token from the environment, kept where nothing prints it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from poolwright.review.refusal import ReviewError

_TOKEN = re.compile(r"[!-~]{1,4096}")


class Token:
    """A secret. Neither its text nor its representation shows it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Token(...)"

    def write_header(self, scheme: str = "") -> str:
        """The value of the header that it goes into, and nothing else; whoever prints variables prints dots."""
        return _Hidden(f"{scheme} {self._text}" if scheme else self._text)


class _Hidden(str):
    """A text that a dictionary, a debugger or a traceback with variables doesn't show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'...'"


def read_token(environment: Mapping[str, str], names: Sequence[str]) -> Token | None:
    """The first of these variables that is set and not empty; None: none is.

    Raises: ReviewError if it is no token: a line end in a header would be quoted by whoever refuses it.
    """
    for name in names:
        text = environment.get(name, "").strip()
        if text and not _TOKEN.fullmatch(text):
            raise ReviewError(
                code="review-token",
                what=f"{name} holds something that isn't a token",
                why="a token is one word of ASCII characters",
                fix="set it to the token alone, without quotes, spaces or further lines",
            )
        if text:
            return Token(text)
    return None
