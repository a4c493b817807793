"""Attestations, written beside what they are about."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from poolwright.files.disk import TEMP_NAME, Disk


def write_attestations(folder: str, files: Mapping[str, bytes]) -> None:
    """Each file in one step, in a folder that is made if it isn't there; others in it stay.

    Who reads the folder meanwhile finds each file as it was or as it is. Where the folder itself is a link, that isn't
    followed. Raises: OSError that names the file; DiskError if another poolwright is writing there.
    """
    above, _, name = os.path.abspath(folder).rpartition("/")  # noqa: PTH100 (start-up: no pathlib)
    disk = Disk(above or "/")
    try:
        disk.make_folder(name)
        with disk.lock():
            for file, data in files.items():
                path = f"{name}/{file}"
                with suppress(FileNotFoundError):  # of one that was killed while it wrote
                    disk.remove(f"{name}/{TEMP_NAME}")
                disk.rename(disk.write_temp(path, data), path)
            disk.sync_folder(name)
    except OSError as error:
        error.filename = folder
        raise
