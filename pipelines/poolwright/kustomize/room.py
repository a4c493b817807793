"""A temporary folder that goes even if this process is killed."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
from types import TracebackType
from typing import Final

# Makes the folder and says where it is. Then it waits for the end of its input, which the system closes when this
# process is gone, ends the process group that was told to it last and not taken back, and removes the folder. It has a
# session of its own, so that no signal to our group reaches it; nor may saying where end it if nobody listens any more.
_KEEPER: Final = """\
trap '' PIPE
folder=$(mktemp -d "$0/poolwright-XXXXXXXXXX") || exit 1
printf '%s\\n' "$folder"
last=
while read -r line; do last=$line; done
[ -z "$last" ] || kill -9 "-$last" 2>/dev/null
rm -rf -- "$folder"
"""
_PATH: Final = "/usr/bin:/bin"  # has mktemp and rm
_NO_ROOM: Final = "no folder can be made there"


class RoomError(OSError):
    """No temporary folder can be made; `filename` is where."""


class Room:
    """A new folder of ours, removed at the end of the block, or by somebody else once this process is dead.

    Raises: RoomError if it can't be made.
    Cost:   a start of a shell and two programs, some milliseconds.
    """

    folder: str

    def __enter__(self) -> Room:
        place = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - where it should be
        try:
            place = tempfile.gettempdir()
            self._keeper = subprocess.Popen(  # noqa: S603 - a text of ours
                ("/bin/sh", "-c", _KEEPER, place),
                env={"PATH": _PATH},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            raise RoomError(errno.EIO, _NO_ROOM, place) from None
        self.folder = "" if self._keeper.stdout is None else self._keeper.stdout.readline().decode().rstrip("\n")
        if not self.folder:
            self._keeper.communicate()
            raise RoomError(errno.EIO, _NO_ROOM, place)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._keeper.communicate()

    def watch(self, group: int) -> None:
        """Have a process group ended with this process; 0: none any more."""
        if self._keeper.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # somebody ended the keeper; then the end of the block tidies up
                self._keeper.stdin.write(f"{group or ''}\n".encode())
                self._keeper.stdin.flush()
