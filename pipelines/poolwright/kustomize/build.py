"""One build by real Kustomize, of a folder that refers to nothing but its own tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from poolwright.kustomize.find import Kustomize, KustomizeError, explain_room
from poolwright.kustomize.process import Ended, Limits, run_apart
from poolwright.kustomize.references import check_references
from poolwright.kustomize.room import RoomError
from poolwright.kustomize.said import shorten_error
from poolwright.specs.finding import escape_controls


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutput:
    """What Kustomize printed for a folder."""

    objects: bytes  # its stdout, never blank
    warnings: tuple[str, ...]  # its stderr by line: deprecated fields, for the most part


_LIMITS = Limits()


def build(kustomize: Kustomize, tree: Path, folder: str, *, limits: Limits = _LIMITS) -> BuildOutput | KustomizeError:
    """Build a folder of a tree as `kustomize build` does, or say why not.

    tree:    what the folder may refer to; also the working directory.
    folder:  relative to tree, with forward slashes.
    Refuses: what check_references does, before anything runs; and an output without objects, because a sync that
             prunes would then delete them all.
    Cost:    a start of the program, 0.05 to 0.15 s; over hundreds of objects it grows with their square. Threads may
             call it at the same time.
    """
    refused = check_references(tree, folder)
    if refused is not None:
        return refused
    try:
        ended = run_apart((*kustomize.argv, f"./{folder}"), folder=tree, limits=limits)
    except RoomError as error:
        return explain_room(error)
    except OSError as error:
        return KustomizeError(reason=f"{kustomize.argv[0]} can't be run: {error.strerror}")
    return _judge(ended, _read_lines(ended.stderr, tree), folder, limits)


def _judge(ended: Ended, lines: tuple[str, ...], folder: str, limits: Limits) -> BuildOutput | KustomizeError:
    if ended.over:
        most = {"time": f"{limits.time_s:g} s", "cpu": f"{limits.cpu_s} s of CPU time", "output": "the output allowed"}
        return KustomizeError(reason=f"{folder}: Kustomize took more than {most[ended.over]}", warnings=lines)
    if ended.code != 0 and _OUT_OF_MEMORY.search(ended.stderr):  # Go prints pages of its state then
        return KustomizeError(reason=f"{folder}: Kustomize took more than {limits.memory_bytes >> 20} MiB of memory")
    if ended.code != 0:
        # Warnings come first; the error itself may run over several lines.
        start = next((index for index, line in enumerate(lines) if _ERROR.match(line)), 0)
        said = shorten_error(" ".join(_ERROR.sub("", line) for line in lines[start:]))[:_REASON_CHARACTERS]
        return KustomizeError(reason=f"{folder}: {said or _name_end(ended.code)}", warnings=lines[:start])
    if not ended.stdout.strip():
        fix = "give its kustomization.yaml resources, or remove the folder"
        return KustomizeError(reason=f"{folder}: Kustomize built no objects", fix=fix, warnings=lines)
    return BuildOutput(objects=ended.stdout, warnings=lines)


def _read_lines(stderr: bytes, tree: Path) -> tuple[str, ...]:
    """What was said, by line, without the tree's own place: the same on every machine."""
    text = stderr.decode("utf-8", "replace")
    for place in (str(tree.resolve()), str(tree.absolute())):
        text = text.replace(f"{place}/", "").replace(place, ".")
    return tuple(escape_controls(_unwrap(line.strip())) for line in text.splitlines() if line.strip())


def _unwrap(line: str) -> str:
    """An error as `kustomize` says it, where kubectl logs it: a time, a process number and the error in quotes."""
    logged = _LOGGED.fullmatch(line)
    if logged is None:
        return line
    said = re.sub(r"\\(.)", lambda escape: {"n": " ", "t": " "}.get(escape[1], escape[1]), logged[1])
    return f"error: {said.strip()}"


def _name_end(code: int) -> str:
    return f"Kustomize ended with exit code {code}" if code > 0 else f"Kustomize was ended by signal {-code}"


# As Go says it; or its collector, refused memory, fails over what it hasn't got, on a stack of the runtime's own.
_OUT_OF_MEMORY = re.compile(
    rb"^(?:fatal error|runtime): .*(?:out of|cannot allocate) memory"
    rb"|^SIGSEGV: segmentation violation\n(?:.*\n)?\s*goroutine 0 .*\[idle\]:\nruntime\.",
    re.MULTILINE,
)
_LOGGED = re.compile(r'[EF]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] "command failed" err="(.*)"')  # klog: kubectl 1.32
_ERROR = re.compile(r"[Ee]rror: ")
_REASON_CHARACTERS = 1000
