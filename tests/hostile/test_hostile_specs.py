"""Hostile specs: whatever stands in or for a spec file, reading it is bounded, follows nothing and runs nothing."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_case import HARMLESS, OTHERS, UNREADABLE, Case, edited, judge, put
from hostile_run import Installed, World, create_world

from poolwright.files.starter import read_starter

EVIL = "specs/evil.yaml"
MIB = 1 << 20
# With it a file looks as if it held the unit, so that `generate` reads it too.
HINT = b"# kind: Placement my-model my-pool\n"


def spec(data: bytes | str, name: str = EVIL) -> Callable[[World], None]:
    """A repository with one more spec file; a text has the hint in front."""
    return lambda world: put(world, {name: HINT + data.encode() if isinstance(data, str) else data})


def placement(*changes: tuple[str, str]) -> Callable[[World], None]:
    """A repository whose placement is edited."""
    return lambda world: put(world, edited("specs/placement.yaml", *changes))


def envelope(*changes: tuple[str, str]) -> Callable[[World], None]:
    """A repository whose envelope is edited."""
    return lambda world: put(world, edited("specs/envelope.yaml", *changes))


def project(*changes: tuple[str, str]) -> Callable[[World], None]:
    """A repository whose Project is edited."""
    return lambda world: put(world, edited("poolwright.yaml", *changes))


def node(make: Callable[[Path], object], name: str = EVIL) -> Callable[[World], None]:
    """A repository with something in a file's place that is no file."""

    def build(world: World) -> None:
        put(world, {})
        path = world.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.unlink()
        make(path)

    return build


def link(target: str, name: str = EVIL) -> Callable[[World], None]:
    """A repository with a link; `OUTSIDE` in the target is the folder with secrets."""

    def build(world: World) -> None:
        node(lambda path: path.symlink_to(target.replace("OUTSIDE", str(world.outside))), name)(world)

    return build


def linked_specs(world: World) -> None:
    put(world, {})
    (world.repository / "specs").rename(world.repository / "moved")
    (world.repository / "specs").symlink_to(world.outside)


def make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def make_socket(path: Path) -> None:
    """The path of a socket's name may be too long, its name is not."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def many_files(world: World) -> None:
    put(world, {})
    for folder in range(200):
        path = world.repository / "specs" / f"{folder:03}"
        path.mkdir()
        descriptor = os.open(path, os.O_RDONLY)
        for file in range(1000):
            os.close(os.open(f"{file}.yaml", os.O_WRONLY | os.O_CREAT, dir_fd=descriptor))
        os.close(descriptor)


def deep_folders(world: World) -> None:
    """Deeper than Python calls functions."""
    put(world, {})
    here = Path.cwd()
    os.chdir(world.repository / "specs")
    try:
        for _ in range(1900):
            Path("d").mkdir()
            os.chdir("d")
        Path("notes.txt").write_text("deep")
    finally:
        os.chdir(here)


def many_bytes(world: World) -> None:
    put(world, {})
    for number in range(140):
        with (world.repository / "specs" / f"{number}.yaml").open("wb") as file:
            file.truncate(MIB)


def strange_names(world: World) -> None:
    put(world, {})
    folder = os.fsencode(world.repository / "specs")
    for name in (b"\x1b[2J\nok: all is well.yaml", b"\xff\xfe.yaml", "\u202egnp.yaml".encode()):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(b"kind: [")


def everywhere(change: Callable[[bytes], bytes]) -> Callable[[World], None]:
    """A repository whose every spec is written in another way."""
    return lambda world: put(
        world, {name: change(data) for name, data in read_starter().items() if name.endswith(".yaml")}
    )


def nested(opening: str, count: int) -> str:
    return "a: " + opening * count


LAUGHS = "a0: &a0 [ha, ha]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
CASES: dict[str, Case] = {
    # Text that is more than it looks.
    "alias-bomb": Case(
        spec(LAUGHS), says="specs/evil.yaml:3:10: the alias *a0 repeats a value from elsewhere  [yaml-alias]"
    ),
    "quadratic-alias": Case(
        spec("a: &a " + "x" * 100_000 + "\nb: [" + "*a, " * 90_000 + "*a]\n"),
        says="specs/evil.yaml:3:5: the alias *a repeats a value from elsewhere  [yaml-alias]",
    ),
    "merge-bomb": Case(
        spec("a: &a {x: 1}\nb: &b {<<: *a}\nc: {<<: [*a, *b]}\n"),
        says="specs/evil.yaml:3:12: the alias *a repeats a value from elsewhere  [yaml-alias]",
    ),
    "recursive-alias": Case(
        spec("a: &a [*a]\n"), says="specs/evil.yaml:2:8: the alias *a repeats a value from elsewhere  [yaml-alias]"
    ),
    "nested-100000-deep": Case(
        spec(nested("[", 100_000)), says="specs/evil.yaml: the file has 100,001 lines and separators  [file-too-large]"
    ),
    "nested-maps-100000-deep": Case(
        spec(nested("{a: ", 100_000)),
        says="specs/evil.yaml: the file has 100,001 lines and separators  [file-too-large]",
    ),
    "nested-900-deep": Case(
        spec(nested("[", 900) + "]" * 900),
        says="specs/evil.yaml:2:68: the value is nested more than 64 levels deep  [yaml-depth]",
    ),
    "nested-1000-levels-in-block-style": Case(
        spec("".join(" " * n + "a:\n" for n in range(1000))),
        says=(
            "specs/evil.yaml:1001:1001: this is not YAML: exceeded maximum nesting depth, while increasing block "
            "level  [yaml-syntax]"
        ),
    ),
    "nested-lists-in-block-style": Case(
        spec("- " * 100_000), says="specs/evil.yaml: the file has 100,001 lines and separators  [file-too-large]"
    ),
    # Too much of something.
    "a-scalar-of-100-MB": Case(
        spec("a: " + "x" * (100 * MIB)),
        says=(
            "specs/evil.yaml: specs/evil.yaml can't be read: it has 104,857,638 bytes, and 1,048,576 is the most  "
            "[file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "a-sparse-file-of-1-GiB": Case(
        node(make_sparse),
        says=(
            "specs/evil.yaml: specs/evil.yaml can't be read: it has 1,073,741,824 bytes, and 1,048,576 is the most "
            " [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "140-files-of-1-MiB": Case(
        many_bytes,
        says="specs: the spec files have more than 134,217,728 bytes together  [project-too-large]",
        codes=UNREADABLE,
    ),
    "folders-1900-deep": Case(
        deep_folders,
        says="specs: specs/ holds more than 64 folders in one another  [project-too-large]",
        codes=UNREADABLE,
    ),
    "99000-repeated-keys": Case(
        spec("a:\n" * 99_000),
        says='specs/evil.yaml:3:1: the key "a" stands a second time; line 2 has it already  [yaml-duplicate-key]',
    ),
    "a-map-of-10000-keys": Case(
        placement(("  minReplicas", "".join(f"  k{n}: 1\n" for n in range(10_000)) + "  minReplicas")),
        says='specs/placement.yaml:10:3: unknown field "k0" in spec  [unknown-field]',
    ),
    "99000-unknown-fields": Case(
        spec(
            "apiVersion: poolwright.dev/v1alpha1\nkind: Placement\n"
            "metadata: {name: my-model}\nspec: {poolName: my-pool}\n" + "".join(f"{n:x}x:\n" for n in range(99_000))
        ),
        says='specs/evil.yaml:5:1: "deviceClassNames" is missing in spec  [missing-field]',
    ),
    "49000-aliases": Case(
        spec("- &a 1\n" + "- *a\n" * 49_000),
        says="specs/evil.yaml:3:3: the alias *a repeats a value from elsewhere  [yaml-alias]",
    ),
    "500000-values": Case(
        spec("[" + "1," * 500_000 + "]"),
        says="specs/evil.yaml: the file has 500,002 lines and separators  [file-too-large]",
    ),
    "a-key-of-300-KB-above-80000-mistakes": Case(
        placement(("spec:", "spec:\n  ? " + "k" * 300_000 + "\n  : {" + "0: 0," * 80_000 + "}")),
        says="specs/placement.yaml:8:6: the key 0 is not a string  [yaml-key]",
    ),
    "a-huge-integer": Case(
        placement(("minReplicas: 1", "minReplicas: 1" + "0" * 100_000)),
        says="specs/placement.yaml:10:16: a number of 100,001 characters  [yaml-number]",
    ),
    "an-integer-beyond-64-bits": Case(
        placement(("minReplicas: 1", "minReplicas: 0x" + "f" * 30)),
        says="specs/placement.yaml:10:16: spec.minReplicas is 1329227995784915872903807060280344575  [out-of-range]",
    ),
    "a-float-beyond-all": Case(
        placement(("minReplicas: 1", "minReplicas: 1e999999")),
        says="specs/placement.yaml:10:16: spec.minReplicas is the number inf  [wrong-type]",
    ),
    # Text that reads differently than it looks.
    "not-utf-8": Case(
        spec(HINT + b"a: \xff\xfe\n"), says="specs/evil.yaml:2:4: byte 0xff is not UTF-8  [yaml-encoding]"
    ),
    "nul-byte": Case(
        spec(HINT + b"a: b\x00c\n"), says="specs/evil.yaml:2:5: the text holds the character U+0000  [yaml-character]"
    ),
    "escaped-nul": Case(
        placement(("name: my-model\n", 'name: "my-model\\0"\n')),
        says="specs/placement.yaml:5:9: the text holds the character U+0000  [yaml-character]",
    ),
    "byte-order-mark": Case(everywhere(lambda data: b"\xef\xbb\xbf" + data), codes=HARMLESS),
    "carriage-returns": Case(everywhere(lambda data: data.replace(b"\n", b"\r\n")), codes=HARMLESS),
    "lone-carriage-returns": Case(
        spec(HINT + b"a: b\rc: d\r"), says="specs/evil.yaml:2:5: the text holds the character U+000D  [yaml-character]"
    ),
    "utf-16": Case(
        spec("kind: Placement\n".encode("utf-16")),
        says="specs/evil.yaml:1:1: byte 0xff is not UTF-8  [yaml-encoding]",
        codes=OTHERS,
    ),
    "bidi-override": Case(
        spec("# \u202e eman\na: b\n"),
        says="specs/evil.yaml:2:3: the text holds the character U+202E (right-to-left override)  [yaml-character]",
    ),
    "escape-sequence": Case(
        spec("a: \x1b[2J\n"), says="specs/evil.yaml:2:4: the text holds the character U+001B  [yaml-character]"
    ),
    "python-object-tag": Case(
        spec("!!python/object/apply:os.system ['touch OUTSIDE/touched']\n"),
        says="specs/evil.yaml:2:1: the YAML tag !!python/object/apply:os.system can't stand here  [yaml-tag]",
    ),
    "python-name-tag": Case(
        spec("a: !!python/name:os.system\n"),
        says="specs/evil.yaml:2:4: the YAML tag !!python/name:os.system can't stand here  [yaml-tag]",
    ),
    # Names that lead elsewhere.
    "unit-named-dot-dot": Case(
        placement(("name: my-model\nspec", "name: ../../outside\nspec")),
        says='specs/placement.yaml:5:9: metadata.name is "../../outside"  [invalid-value]',
    ),
    "envelope-version-with-dot-dot": Case(
        envelope(("version: 0.1.0", "version: ../../outside")),
        says='specs/envelope.yaml:6:12: metadata.version is "../../outside"  [invalid-value]',
    ),
    "cluster-named-with-a-slash": Case(
        project(("name: my-cluster\n", "name: my/cluster\n")),
        says='poolwright.yaml:10:13: spec.clusters[0].name is "my/cluster"  [invalid-value]',
    ),
    "cluster-named-dot-dot": Case(
        project(("name: my-cluster\n", "name: ..\n")),
        says='poolwright.yaml:10:13: spec.clusters[0].name is ".."  [invalid-value]',
    ),
    "unit-named-like-a-reserved-one": Case(
        placement(("name: my-model\nspec", "name: platform\nspec")),
        says=(
            "specs/placement.yaml:5:9: the Application of my-cluster/platform would be called "
            '"my-cluster-platform", as that of the platform of my-cluster  [application-clash]'
        ),
        generate='poolwright.yaml: cluster "my-cluster" has no unit "my-model"  [unit-unknown]',
    ),
    "config-path-with-dot-dot": Case(
        envelope(("models/my-model/config.json", "../outside/secret.yaml")),
        says='specs/envelope.yaml:17:17: spec.model.configPath is "../outside/secret.yaml"  [invalid-value]',
    ),
    "config-path-absolute": Case(
        envelope(("models/my-model/config.json", "/etc/passwd")),
        says='specs/envelope.yaml:17:17: spec.model.configPath is "/etc/passwd"  [invalid-value]',
    ),
    "inventory-with-dot-dot": Case(
        project(("stackName: my-stack\n", "stackName: my-stack\n      inventory: ../outside/secret.yaml\n")),
        says='poolwright.yaml:12:18: spec.clusters[0].inventory is "../outside/secret.yaml"  [invalid-value]',
    ),
    # What stands where a file should.
    "spec-is-a-link-to-passwd": Case(
        link("/etc/passwd"),
        says="specs/evil.yaml: specs/evil.yaml can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "spec-is-a-link-outside": Case(
        link("../../outside/secret.yaml"),
        says="specs/evil.yaml: specs/evil.yaml can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "spec-is-a-link-inside": Case(
        link("pool.yaml"),
        says="specs/evil.yaml: specs/evil.yaml can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "project-is-a-link": Case(
        link("OUTSIDE/secret.yaml", "poolwright.yaml"),
        says="poolwright.yaml: poolwright.yaml can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "specs-is-a-link": Case(
        linked_specs, says="specs: specs can't be read: it is a link  [file-unreadable]", codes=UNREADABLE
    ),
    "folder-loop": Case(
        link("..", "specs/loop"),
        says="specs/loop: specs/loop can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "folder-is-a-link-to-the-root": Case(
        link("/", "specs/root"),
        says="specs/root: specs/root can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "spec-is-a-pipe": Case(
        node(os.mkfifo),
        says="specs/evil.yaml: specs/evil.yaml can't be read: it is no regular file  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "project-is-a-pipe": Case(
        node(os.mkfifo, "poolwright.yaml"),
        says="poolwright.yaml: poolwright.yaml can't be read: it is no regular file  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "spec-is-a-socket": Case(
        node(make_socket),
        says="specs/evil.yaml: specs/evil.yaml can't be read: no such device or address  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "spec-is-a-folder": Case(node(Path.mkdir), codes=HARMLESS),
    "config-is-a-pipe": Case(
        node(os.mkfifo, "models/my-model/config.json"),
        says=(
            "models/my-model/config.json: models/my-model/config.json can't be read: it is no regular file  "
            "[file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "config-is-a-link": Case(
        link("OUTSIDE/secret.yaml", "models/my-model/config.json"),
        says="models/my-model/config.json: models/my-model/config.json can't be read: it is a link  [file-unreadable]",
        codes=UNREADABLE,
    ),
    "config-is-sparse": Case(
        node(make_sparse, "models/my-model/config.json"),
        says=(
            "models/my-model/config.json: models/my-model/config.json can't be read: it has 1,073,741,824 bytes, "
            "and 16,777,216 is the most  [file-unreadable]"
        ),
        codes=UNREADABLE,
    ),
    "names-that-move-a-cursor": Case(
        strange_names,
        says=(
            "specs/\\x1b[2J\\nok: all is well.yaml:2:1: this is not YAML: did not find expected node content, while "
            "parsing a flow node  [yaml-syntax]"
        ),
        codes=OTHERS,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_spec_is_refused_or_harmless(name: str, world: World, installed: Installed) -> None:
    judge(CASES[name], world, installed)


def test_200000_tiny_files_are_refused(installed: Installed) -> None:
    # In memory where there is such a place: a disk takes longer to make them than all else here together.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as top:
        judge(MANY_FILES, create_world(Path(top)), installed)


MANY_FILES = Case(
    many_files, says="specs: specs/ holds more than 50,000 files and folders  [project-too-large]", codes=UNREADABLE
)
