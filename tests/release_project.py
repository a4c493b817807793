"""The small fleet as it can be released: it owes nothing that isn't waived, and has a lock."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet import PLACEMENTS, PROJECT, edit, read_small_fleet
from folders import write_files
from made_repository import commit, make_repository
from run_poolwright import Ran, run

WAIVED = """\
  waivers:
    - rule: rehearsal-missing
      reason: The example has no test cluster yet.
      owner: platform
      expires: 2026-12-31
"""


@cache
def read_releasable() -> Mapping[str, bytes]:
    """Its files, poolwright.lock too; rendered trees aren't among them, for no release reads them."""
    files = edit(read_small_fleet(), PLACEMENTS, ("  zone: east-a\n", ""))
    files[PROJECT] += WAIVED.encode()
    with TemporaryDirectory() as folder:
        ran = run("pin", folder=write_files(Path(folder), files))
        assert ran.code == 0, ran
        return {**files, "poolwright.lock": Path(folder, "poolwright.lock").read_bytes()}


def make_releasable(folder: Path, prefix: str = "", *options: str) -> Path:
    """A repository with it; the project's folder."""
    make_repository(folder, *options)
    commit(folder, {f"{prefix}{path}": data for path, data in read_releasable().items()}, "the fleet")
    return folder / prefix


def release(name: str, *options: str, folder: Path) -> Ran:
    """Run `poolwright release` there, as of the day that the example's waivers count on."""
    return run("release", name, "--as-of", "2026-11-30", *options, folder=folder)
