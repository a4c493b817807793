"""Which files on disk Git ignores: those that no checkout of anybody else has."""

from __future__ import annotations

import os
from dataclasses import replace

from poolwright.git.process import Store, run_git
from poolwright.git.refusals import refuse_repository, shorten_words


def list_ignored(store: Store, top: str, folder: str) -> tuple[str, ...]:
    """Files, and folders of which everything is ignored, by their path from a folder; sorted.

    top:    of the working tree, absolute.
    folder: in it; absolute.
    Raises: SpecError if git can't say.
    Cost:   git looks at every file on disk, and at the index, which tells what is ignored and committed all the same.
    """
    arguments = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    ended = run_git(replace(store, work_tree=top), "-C", top, *arguments)
    if ended.code != 0:
        raise refuse_repository(f"git can't say what it ignores: {shorten_words(ended.stderr)}", "mend the repository")
    found = (os.path.relpath(f"{top}/{os.fsdecode(path)}", folder) for path in ended.stdout.split(b"\0") if path)
    return tuple(sorted(path for path in found if path != ".." and not path.startswith("../")))
