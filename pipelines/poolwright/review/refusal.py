"""Why a comment can't be kept up to date, as an error on its way up."""

from __future__ import annotations

from typing import Final

CHECK_NETWORK: Final = "check the address of the API, the network and HTTPS_PROXY, and run it again"
RUN_AGAIN: Final = "run it again later: it goes on from whatever is there"


class ReviewError(Exception):
    """It can't be done. Its texts are ours: nothing that a server wrote is repeated, and no token is in them."""

    def __init__(self, *, code: str, what: str, why: str, fix: str) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix


class UnsureError(ReviewError):
    """A request was sent and its answer lost: what it asked for may have happened."""


class ChangedError(ReviewError):
    """What was listed a moment ago isn't there any more: somebody else is at it too."""


def refuse_answer(what: str) -> ReviewError:
    """The error for an answer that can't be used."""
    return ReviewError(
        code="review-nonsense",
        what=what,
        why="what can't be understood isn't acted on",
        fix="check the address of the API and what stands between it and here, such as a proxy",
    )


def refuse_silence(what: str) -> ReviewError:
    """The error for a server that can't be asked, or doesn't answer in time."""
    return ReviewError(
        code="review-silent",
        what=what,
        why="comments are known only from the server",
        fix=CHECK_NETWORK,
    )
