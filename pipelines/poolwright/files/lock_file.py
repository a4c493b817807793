"""The lock on disk: written whole, or left as it was."""

from __future__ import annotations

from poolwright.files.disk import Disk
from poolwright.files.write_folder import disk_errors
from poolwright.specs.lock import LOCK_FILE


def write_lock(root: str, text: bytes) -> None:
    """Put a text in the lock's place in one step.

    Raises: DiskError if another poolwright is writing below root, or the disk says no; the lock is as it was then.
    """
    tree = Disk(root)
    with disk_errors(LOCK_FILE), tree.lock():
        tree.rename(tree.write_temp(LOCK_FILE, text), LOCK_FILE)
        tree.sync_folder("")
