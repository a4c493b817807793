"""What can't be made into a comment."""

from __future__ import annotations


class CommentError(Exception):
    """A limit, a link or a project that no comment can have; the text is a sentence that says how to mend it."""
