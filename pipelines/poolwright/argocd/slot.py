"""How many calls of `generate` work at once: Argo CD starts one for every Application and waits for none.

A call that finds all slots taken waits before it loads anything, where it takes a third of the memory, and first come
is first served. Without that, calls of a large refresh all slow each other down until all of them miss their deadline,
and so do the next ones.

Loaded before anything else of Poolwright, so it needs nothing that takes time to load.
"""

import fcntl
import os
import sys
from collections.abc import Mapping

AT_ONCE = "POOLWRIGHT_AT_ONCE"  # how many; unset: no bound
# The image has them: empty files that nobody can write to. A lock needs no more, and nothing is left behind.
FOLDER = os.path.join(sys.prefix, "slots")  # noqa: PTH118 (start-up: no pathlib)


def take_slot(environ: Mapping[str, str], folder: str = FOLDER) -> str:
    """Wait until fewer than $POOLWRIGHT_AT_ONCE calls work, and be one of them until this process ends.

    folder:  has the slots, files called 0, 1, 2 and so on.
    Returns: "", or why no slot can be had, in one line.
    Cost:    a look at each slot; one line on stderr if it must wait. Nothing ends the wait but a slot or the caller's
             deadline, which this process isn't told: then it is killed, and what it held is free.
    """
    said = environ.get(AT_ONCE, "")
    if not said:
        return ""
    if not (said.isascii() and said.isdecimal() and len(said) < 5 and int(said)):
        return f"{AT_ONCE} is {said[:40]!r}: set it to how many calls may work at once, 1 or more, or unset it"
    slots = []
    for number in range(int(said)):
        try:
            slots.append(os.open(f"{folder}/{number}", os.O_RDONLY))
        except OSError as error:
            return f"{AT_ONCE} is {said}, and {folder}/{number} can't be opened ({error.strerror}): make it no larger"
    held = _take(slots)
    for slot in slots:
        if slot != held:
            os.close(slot)
    return ""


def _take(slots: list[int]) -> int:
    """A slot that is free, or the one that this process's number picks as soon as it is."""
    start = os.getpid() % len(slots)
    for slot in (*slots[start:], *slots[:start]):
        try:
            fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        return slot
    sys.stderr.write(f"poolwright: waits until one of {len(slots)} other calls ends ({AT_ONCE})\n")
    sys.stderr.flush()
    fcntl.flock(slots[start], fcntl.LOCK_EX)
    return slots[start]
