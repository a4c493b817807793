"""Why a server gives no digest, as an error on its way up."""

from __future__ import annotations

from typing import Final

from poolwright.pins.questions import Unanswered

CHECK_NETWORK: Final = "check the name, the network and HTTPS_PROXY, and run it again"
CHECK_SERVER: Final = "ask who runs the registry, or leave --online out: nothing else needs it"
CHECK_NAME: Final = "name a repository, a tag and a version that it has"


class RefusalError(Exception):
    """No digest can be had. Its texts are ours: nothing that a server wrote is repeated."""

    def __init__(self, *, code: str, what: str, fix: str) -> None:
        super().__init__(what)
        self.answer = Unanswered(code=code, what=what, fix=fix)


def refuse_answer(what: str) -> RefusalError:
    """The error for an answer that can't be used."""
    return RefusalError(code="registry-nonsense", what=what, fix=CHECK_SERVER)
