"""What keeping comments needs of a conversation, whoever hosts it."""

from __future__ import annotations

from typing import Protocol

from poolwright.comments.reconcile import Comment, Create, Delete, Update


class Forum(Protocol):
    """The conversation of one pull request or merge request.

    All methods raise ReviewError; `update` raises ChangedError if the comment is gone, and `create` UnsureError
    if it may have been made though no answer came.
    """

    @property
    def name(self) -> str:
        """How messages call it: `acme/fleet#7`, `group/fleet!7`."""

    def show_request(self, action: Create | Update | Delete) -> str:
        """Method and path of the request that an action is."""

    def read_author(self) -> str:
        """Who writes with this token."""

    def list_comments(self) -> tuple[Comment, ...]:
        """All comments, everybody's."""

    def create(self, body: str) -> Comment:
        """A new comment."""

    def update(self, id: int, body: str) -> None:  # noqa: A002 (as every API calls it)
        """Another text for a comment."""

    def delete(self, id: int) -> None:  # noqa: A002
        """No such comment any more; nothing happens where there is none."""
