"""The `poolwright` command.

`generate` runs once per Argo CD application, so it has a start-up path of its own: neither the command-line library
nor any module that it doesn't need is loaded for it.

Up to `check_import_path` only what is built into Python is loaded, not even `__future__`: where a project is among the
folders that modules come from, its own would be.
"""

import errno
import gc
import io
import os
import sys
from contextlib import suppress

from poolwright.files.import_path import check_import_path


def main() -> None:
    """Run the command in sys.argv and leave with its exit code: 0 yes, 1 no, 2 could not answer."""
    _replace_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # UTF-8 whatever the locale says: same input, same bytes
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = _refuse(reason) if (reason := check_import_path()) else _run()
        sys.stdout.flush()
    except OSError as error:
        code = _give_up(error)
    except KeyboardInterrupt:
        code = 2
    sys.exit(code)


def _refuse(reason: str) -> int:
    sys.stderr.write(f"poolwright: {reason}\n")
    return 2


def _run() -> int:
    if sys.argv[1:2] == ["generate"] and not {"-h", "--help"} & set(sys.argv):
        # Looking for cyclic garbage takes a twentieth of so short a run, mostly on the way out, and finds next to none.
        gc.disable()
        if "--argocd" in sys.argv:  # a plugin leaves nothing to its next call, compiled modules neither
            sys.dont_write_bytecode = True
        from poolwright.argocd.slot import take_slot

        if reason := take_slot(os.environ):  # before the rest is loaded: whoever waits shouldn't have it in memory
            return _refuse(reason)
        from poolwright.cli.lazy_patterns import load_libraries

        load_libraries()
        from poolwright.cli.generate import run_generate

        code = run_generate(sys.argv[2:])
        gc.freeze()
        return code
    if sys.argv[1:] == ["cmp", "discover"]:  # asked about every Application that says no type
        from poolwright.cli.discover import run_discover

        return run_discover()
    from poolwright.cli.commands import run_command

    return run_command()


def _replace_closed() -> None:
    """Put something in the place of each stream that was closed (`>&-`), before a file gets its number.

    What stderr is told is lost. stdin and stdout refuse, as a disk may, so that nobody takes silence for an answer.
    """
    if sys.stdin is None:
        sys.stdin = open(os.open(os.devnull, os.O_WRONLY))  # noqa: PTH123, SIM115 (a descriptor, for good)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.open(os.devnull, os.O_WRONLY), "w")  # noqa: PTH123, SIM115


def _give_up(error: OSError) -> int:
    """Say what the system refused, if it isn't that a reader of stdout has seen enough, as `head` has."""
    if not isinstance(error, BrokenPipeError):
        from poolwright.specs.finding import escape_controls

        with suppress(OSError):
            sys.stderr.write(escape_controls(f"poolwright: {_describe(error)}") + "\n")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # it would be tried again on the way out, and complained about
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 2


def _describe(error: OSError) -> str:
    try:
        os.getcwd()  # noqa: PTH109 (start-up: no pathlib)
    except OSError:
        if isinstance(error, FileNotFoundError):
            return "the folder that this runs in doesn't exist any more"
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "stdout"
    return f"{where}: {'it is closed' if error.errno == errno.EBADF else error.strerror}"
