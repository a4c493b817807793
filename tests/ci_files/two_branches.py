"""A repository whose two branches are each fine and together too much, and the merged results that a service makes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from copied import commit, git

from fleet import PLACEMENTS, edit, read_small_fleet, render_tree
from folders import write_files

# What somebody may call a branch. Git refuses spaces, `~`, `^`, `:`, `?`, `*`, `[` and `\` in one.
HOSTILE = "$(touch${IFS}pwned);`touch${IFS}pwned`;\"'&&touch${IFS}pwned#|{a,b}"
SECOND = """\
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata:
  name: second-70b
spec:
  envelope: {name: chat-70b, version: 2.3.0}
  poolName: h100-full
  deviceClassNames: [interactive-80g]
  minReplicas: 1
  surge: 0
"""


@dataclass(frozen=True, slots=True)
class Branches:
    """Commits of the repository: of 16 devices the base takes 8, `more` 16, and `second` 12."""

    folder: Path
    base: str
    more: str  # of a branch with a hostile name
    second: str

    def merge(self, base: str, head: str) -> str:
        """Check out what GitHub and GitLab make of a head: a commit with its target and it as parents."""
        git(self.folder, "checkout", "--quiet", "--detach", base)
        git(self.folder, "merge", "--quiet", "--no-ff", "-m", f"Merge {head} into {base}", head)
        return git(self.folder, "rev-parse", "HEAD")


def copy_branches(built: Branches, folder: Path) -> Branches:
    """Another such repository, `folder`/fleet, to check things out in."""
    shutil.copytree(built.folder, folder / "fleet")
    return replace(built, folder=folder / "fleet")


def build_branches(folder: Path) -> Branches:
    """The small fleet without its next version, committed with its rendered tree, and two branches of it."""
    base = edit(read_small_fleet(), PLACEMENTS)
    base[PLACEMENTS] = base[PLACEMENTS].split(b"---\n")[0]
    heads = {
        HOSTILE: edit(base, PLACEMENTS, ("minReplicas: 1", "minReplicas: 3")),
        "second": {**base, "specs/second.yaml": SECOND.encode()},
    }
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    write_files(folder, {**base, **render_tree(base)})
    start = commit(folder, HOSTILE)
    ids = []
    for name, files in heads.items():
        git(folder, "checkout", "--quiet", "-b", name, start)
        write_files(folder, {**files, **render_tree(files)})
        ids.append(commit(folder, HOSTILE))
    git(folder, "checkout", "--quiet", "main")
    return Branches(folder, start, *ids)
