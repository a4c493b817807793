"""A team's template rendered in a child process that can do nothing else, and that ends soon."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Literal

import msgspec

from poolwright.specs.finding import Finding, SpecError, escape_controls
from poolwright.specs.place import Place

SWITCH: Final = "POOLWRIGHT_TEMPLATES"  # `off` refuses every template
MAX_TEMPLATE_BYTES: Final = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one template may use: more than a hundred times what a large one takes."""

    cpu_s: int = 2
    memory_bytes: int = 256 << 20  # of address space, with Python and Jinja2 in it
    output_bytes: int = 1 << 20
    time_s: float = 10


class Rendered(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a template printed."""

    text: str
    lines: tuple[int, ...]  # for each line of the text the template's, from 1; empty where that isn't known


class Problem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it printed nothing."""

    kind: Literal["syntax", "undefined", "unsafe", "value", "memory", "output", "depth", "time", "end"]
    line: int  # 0: not known
    message: str


class _Refusal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    problem: Problem


_LIMITS: Final = Limits()
_ANSWER_FACTOR: Final = 8  # of the output's bytes: JSON may need as many for a character, and lines their numbers


def render_template(
    template: bytes,
    file: str,
    variables: Mapping[str, object],
    *,
    environ: Mapping[str, str],
    limits: Limits = _LIMITS,
) -> Rendered:
    """The text that a template of the repository gives with these variables.

    template:  Jinja2; file is what findings call it.
    variables: what JSON can hold. The template sees them and nothing else: no file, environment, clock or network.
    environ:   whether templates are switched off is read here; nothing of it reaches the child.
    Raises:    SpecError with one finding: the template is wrong at this line, or went over a limit.
    Cost:      a start of Python with Jinja2, some 0.1 s.
    """
    if environ.get(SWITCH) == "off":
        raise SpecError([_switched_off(file)])
    if len(template) > MAX_TEMPLATE_BYTES:
        raise SpecError([_too_large(file, len(template))])
    try:
        text = template.decode("utf-8")
    except UnicodeDecodeError as error:
        line = template.count(b"\n", 0, error.start) + 1
        raise SpecError([_wrong(file, Problem(kind="value", line=line, message="this is no UTF-8"), ())]) from None
    answer = _ask(msgspec.json.encode({"template": text, "variables": variables}, order="sorted"), limits)
    if isinstance(answer, Problem):
        build = _over if answer.kind in _OVER else _wrong
        raise SpecError([build(file, answer, sorted(variables))])
    return answer


def _ask(request: bytes, limits: Limits) -> Rendered | Problem:
    """Start the child, put the request to it and read its answer, of which nothing is trusted."""
    with tempfile.TemporaryDirectory(prefix="poolwright-") as empty:
        process = subprocess.Popen(  # noqa: S603 (this Python, and a program of ours)
            _command(limits),
            cwd=empty,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            answer = _talk(process, request, limits)
        finally:
            if process.poll() is None:  # not reaped, so the group is still the child's own
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
    return answer


def _command(limits: Limits) -> list[str]:
    """`-I -S`: the repository, the environment and what is installed can't put a module in Jinja2's place."""
    child = os.path.join(os.path.dirname(__file__), "child.py")  # noqa: PTH118, PTH120 (no other use of pathlib here)
    numbers = [str(limits.cpu_s), str(limits.memory_bytes), str(limits.output_bytes)]
    folders = sorted({_folder_of(name) for name in ("jinja2", "markupsafe")})
    return [sys.executable, "-I", "-S", "-B", child, *numbers, *folders]


def _folder_of(package: str) -> str:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} isn't installed", name=package)
    return os.path.dirname(os.path.dirname(spec.origin))  # noqa: PTH120


def _talk(process: subprocess.Popen[bytes], request: bytes, limits: Limits) -> Rendered | Problem:
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both were asked for")
    deadline = time.monotonic() + limits.time_s
    with suppress(BrokenPipeError):  # it ended before it read: what it left is judged below
        process.stdin.write(request)  # it reads all of it before it looks at the template
        process.stdin.close()
    answer, most = b"", limits.output_bytes * _ANSWER_FACTOR
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return Problem(kind="time", line=0, message=f"{limits.time_s:g} s")
            piece = os.read(process.stdout.fileno(), 1 << 16)
            answer += piece
            if len(answer) > most:
                return Problem(kind="output", line=0, message="")
            if not piece:
                break
    try:
        code = process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return Problem(kind="time", line=0, message=f"{limits.time_s:g} s")
    return _read_answer(code, answer, limits)


def _read_answer(code: int, answer: bytes, limits: Limits) -> Rendered | Problem:
    if code == -signal.SIGXCPU:
        return Problem(kind="time", line=0, message=f"{limits.cpu_s} s of CPU time")
    try:
        found = msgspec.json.decode(answer, type=dict[str, object])
        if code == 0 and "problem" in found:
            return msgspec.convert(found, _Refusal).problem
        if code == 0:
            return msgspec.convert(found, Rendered)
    except msgspec.MsgspecError:
        pass
    return Problem(kind="end", line=0, message=f"exit code {code}" if code >= 0 else f"signal {-code}")


_OVER: Final = ("memory", "output", "depth", "time", "end")


def _over(file: str, problem: Problem, _: list[str]) -> Finding:
    what = {
        "memory": "needs more memory than a template may have",
        "output": "prints more than a template may",
        "depth": "is nested too deep, or calls itself without end",
        "time": f"takes more than {problem.message}",
        "end": f"ended the process that rendered it, by {problem.message}",
    }[problem.kind]
    return Finding(
        code="template-limit",
        severity="error",
        place=Place(file, problem.line, 1) if problem.line else Place(file),
        what=f"the template {what}",
        why=f"a template of the repository runs for at most {_LIMITS.cpu_s} s in {_LIMITS.memory_bytes >> 20} MiB and "
        f"prints at most {_LIMITS.output_bytes >> 20} MiB, so that no repository can hold up who renders it",
        rule="poolwright template sandbox",
        fix="take out the loop, repetition or recursion; a workload is a few hundred lines",
    )


def _wrong(file: str, problem: Problem, known: list[str] | tuple[str, ...]) -> Finding:
    what = {"undefined": "the template uses what isn't there", "unsafe": "the template reaches for what it may not"}
    fix = {
        "undefined": f"use what there is: {', '.join(known)}; of a part that may be missing, `default`",
        "unsafe": "use the variables' own entries, and the filters and tests that the reference lists",
        "syntax": "mend the template's syntax",
        "value": "mend the expression",
    }
    start = what.get(problem.kind, "the template can't be rendered")
    return Finding(
        code="template-error",
        severity="error",
        place=Place(file, problem.line, 1) if problem.line > 0 else Place(file),
        what=f"{start}: {escape_controls(problem.message)}",
        why="a workload is rendered as a whole or not at all",
        rule="poolwright template sandbox",
        fix=fix.get(problem.kind, "mend the template"),
    )


def _too_large(file: str, size: int) -> Finding:
    return Finding(
        code="template-limit",
        severity="error",
        place=Place(file),
        what=f"the template has {size:,} bytes",
        why=f"a template is read up to {MAX_TEMPLATE_BYTES:,} bytes, so that rendering is bounded in time and memory",
        rule="poolwright template sandbox",
        fix="shorten it; a workload is a few hundred lines",
    )


def _switched_off(file: str) -> Finding:
    return Finding(
        code="templates-off",
        severity="error",
        place=Place(file),
        what=f"templates are switched off here ({SWITCH}=off), and the envelope's workload is one",
        why="a template is a program of whoever may write to the repository; where it may run is a choice of the place",
        rule="poolwright template sandbox",
        fix=f"allow them here by taking {SWITCH} away, or commit the rendered folder and let Argo CD read that",
    )
