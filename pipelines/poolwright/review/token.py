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

    def reveal(self) -> str:
        """The secret itself, for the header that it goes into and nothing else."""
        return self._text


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
