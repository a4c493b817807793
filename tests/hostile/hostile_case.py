"""A hostile repository as a row of a table, and the judging of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hostile_run import (
    MAX_OUTPUT_BYTES,
    MAX_RSS_BYTES,
    MAX_SECONDS,
    SECRET,
    Ended,
    Installed,
    World,
    environment,
    make_unread,
    run_measured,
    snapshot,
    was_read,
)

from poolwright.files.starter import read_starter

CLUSTER, UNIT = "my-cluster", "my-model"
# Exit codes of check, render --out and generate.
HARMLESS = (0, 0, 0)
REFUSED = (1, 2, 2)
UNREADABLE = (2, 2, 2)  # `check` can't judge what it can't read
OTHERS = (1, 2, 0)  # in a file that holds nothing of the unit: one team's mistake stops no other team's sync
STALE = (0, 0, 2)  # `generate` alone compares with the committed tree, and `render --out` writes another one
CHECKED = (1, 0, 0)  # `check` alone reads it
JUDGED = (1, 0, 2)  # `render` copies it as it is; what is made of it is judged by the others


@dataclass(frozen=True, slots=True)
class Case:
    """What is done to the starter repository, and what the three commands then do."""

    build: Callable[[World], None]
    says: str = ""  # the first line of `check` and `render`, and the end of the last one of `generate`; empty: harmless
    codes: tuple[int, int, int] = REFUSED  # of check, render --out, generate
    check: str | None = None  # where `check` says another line
    generate: str | None = None  # where `generate` does
    environment: Mapping[str, str] = field(default_factory=dict)

    def line(self, command: str) -> str:
        """What a command says."""
        other = {"check": self.check, "generate": self.generate}.get(command)
        return self.says if other is None else other


def put(world: World, files: Mapping[str, bytes | str]) -> None:
    """The starter repository with other files in place of, or beside, its own."""
    for name, data in {**read_starter(), **files}.items():
        path = world.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def edited(name: str, *changes: tuple[str, str]) -> dict[str, str]:
    """One of the starter's files with texts replaced, each of which must stand in it."""
    text = read_starter()[name].decode()
    for old, new in changes:
        assert old in text, (name, old)
        text = text.replace(old, new)
    return {name: text}


def judge(case: Case, world: World, installed: Installed) -> None:
    """Run the three commands in the repository and compare with what the case says."""
    case.build(world)
    before = snapshot(world.repository, world.outside, world.home)
    make_unread(world.secret)
    commands = {
        "check": ("check",),
        "render": ("render", "--out", str(world.out)),
        "generate": ("generate", "--cluster", CLUSTER, "--unit", UNIT),
    }
    for (command, arguments), code in zip(commands.items(), case.codes, strict=True):
        ended = run_measured(
            (installed.command, *arguments),
            folder=world.repository,
            environment=environment(world, **case.environment),
            scratch=world.top / "scratch",
        )
        check_ended(ended, command, code, case.line(command))
    assert snapshot(world.repository, world.outside, world.home) == before
    check_secrets(world)


def check_ended(ended: Ended, command: str, code: int, line: str) -> None:
    """One run against what is expected of it: exit code, the one line, time, memory, and clean output."""
    output = f"{command}: exit {ended.code}\n{ended.stdout[:2000]}\n{ended.stderr[:2000]}"
    assert "Traceback" not in ended.stderr, output
    assert ended.code == code, output
    if code == 0:
        assert ended.stderr == "", output
    elif command == "check":
        assert ended.stderr == "", output
        assert is_line(cut_line(ended.stdout), line), output
    else:
        assert ended.stdout == "", output
        assert is_line(find_line(ended, command), line), output
    if command == "check" and code == 0:
        assert ended.stdout.startswith("ok: "), output
    said = ended.stdout + ended.stderr
    assert all(character.isprintable() or character == "\n" for character in said), repr(said[:2000])
    assert len(said) < MAX_OUTPUT_BYTES
    assert ended.seconds < MAX_SECONDS, f"{command} took {ended.seconds:.1f} s"
    assert ended.rss_bytes < MAX_RSS_BYTES, f"{command} took {ended.rss_bytes >> 20} MiB"


def find_line(ended: Ended, command: str) -> str:
    """What a refusal says in one line: a finding's headline, without its code where `generate` says it."""
    if command != "generate":
        return cut_line(ended.stderr)
    *_, last = ended.stderr.splitlines()
    start = f"poolwright: {CLUSTER}/{UNIT} refused: "
    assert last.startswith(start), last
    assert len(last.encode()) < 300, last
    what = last.removeprefix(start).rpartition("; fix: ")[0].rpartition(" (and ")[0]
    what = what or last.removeprefix(start).rpartition("; fix: ")[0]
    assert what, last
    # The same finding stands above it as a headline, with its code; a long one is cut in the line.
    told = cut_line(ended.stderr)
    return told if told.startswith(what.removesuffix("...")) else last


def is_line(said: str, line: str) -> bool:
    """Whether that was said; what Kustomize says for itself, and its releases say differently, stands as `...`."""
    return said.startswith(line[:-3]) if line.endswith("...") else said == line


def cut_line(text: str) -> str:
    """The first line of what was said."""
    return text.partition("\n")[0]


def check_secrets(world: World) -> None:
    """Nothing of the repository ran, and nothing outside of it was read or left its place."""
    assert not world.touched.exists(), world.touched.read_text()
    assert not was_read(world.secret)
    written = [path for path in (world.out, world.top / "scratch") for path in list_files(path)]
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


def list_files(folder: Path) -> list[Path]:
    """Every regular file below a folder."""
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
