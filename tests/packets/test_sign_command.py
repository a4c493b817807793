"""`poolwright sign`: a packet that holds, by who has the key, in a process that reads no project."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from folders import read_files, write_files
from made_packet import (
    ALICE,
    BOB,
    DORA,
    NAME,
    make_index,
    make_packet,
    make_signed,
    make_trust,
    sign_index,
    write_key,
)
from poolwright.attestations.envelope import Envelope, name_envelope, parse_envelope, render_envelope
from poolwright.attestations.keys import parse_private_key, render_private_key
from poolwright.attestations.tar import write_tar
from poolwright.files.disk import TEMP_NAME
from poolwright.packet.index import INDEX, name_packet
from poolwright.trust.policy import parse_trust
from run_poolwright import Ran, run, start

PACKET = f"releases/{NAME}"
GOOD = make_packet()
DIGEST = name_packet(GOOD[INDEX])
HEAD = f"packet 2026-11-30 of inference-fleet, release 7\ndigest {DIGEST}\n"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a packet, its tar and three keys."""
    write_files(tmp_path / PACKET, GOOD)
    (tmp_path / "packet.tar").write_bytes(write_tar(GOOD))
    for name, key in (("alice", ALICE), ("bob", BOB), ("dora", DORA)):
        write_key(tmp_path / f"{name}.pem", key)
    return tmp_path


def say(key: object, done: str = "signed", folder: str = f"{PACKET}/attestations", kind: str = "Ed25519") -> str:
    key_id = key.public.id  # type: ignore[attr-defined]
    return f"{done} by {key_id} ({kind}): {folder}/{name_envelope(key_id)}\n"


def test_several_sign_a_folder(here: Path) -> None:
    first = run("sign", PACKET, "--key", "alice.pem", folder=here)
    assert first == Ran(0, HEAD + say(ALICE), "")
    both = run("sign", PACKET, "--key", "bob.pem", "--key", "dora.pem", "--key", "bob.pem", folder=here)
    assert both == Ran(0, HEAD + say(BOB) + say(DORA, kind="ECDSA P-256"), "")
    assert read_files(here / PACKET) == make_signed(ALICE, BOB, DORA)
    (here / "trust.yaml").write_text(make_trust(ALICE, BOB, DORA, threshold=3))
    assert run("verify", PACKET, "--trust", "trust.yaml", "--no-rebuild", folder=here).code == 0


@pytest.mark.parametrize("name", ["alice", "dora"])
def test_who_signs_again_says_the_same(name: str, here: Path) -> None:
    run("sign", PACKET, "--key", f"{name}.pem", folder=here)
    before = {path: (here / PACKET / path).stat().st_mtime_ns for path in read_files(here / PACKET)}
    again = run("sign", PACKET, "--key", f"{name}.pem", folder=here)
    assert (again.code, "was signed before by" in again.stdout) == (0, True)
    assert {path: (here / PACKET / path).stat().st_mtime_ns for path in before} == before


def test_an_ecdsa_signature_with_another_nonce_stays(here: Path) -> None:
    """As other programs make it: it is valid, and another one would say no more."""
    ((name, ours),) = sign_index(make_index(), DORA).items()
    envelope = parse_envelope(ours)
    key = load_pem_private_key(render_private_key(DORA), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    signature = key.sign(envelope.signed, ec.ECDSA(SHA256()))
    theirs = render_envelope(Envelope(key_id=envelope.key_id, payload=envelope.payload, signature=signature))
    assert theirs != ours
    write_files(here / PACKET, {f"attestations/{name}": theirs})
    ran = run("sign", PACKET, "--key", "dora.pem", folder=here)
    assert ran == Ran(0, HEAD + say(DORA, "was signed before", kind="ECDSA P-256"), "")
    assert (here / PACKET / "attestations" / name).read_bytes() == theirs


def test_what_says_something_else_is_replaced(here: Path) -> None:
    """A signature of what the packet was before, or rubbish in its place: the key's holder signs this one now."""
    path = here / PACKET / "attestations" / name_envelope(ALICE.public.id)
    for before in (*sign_index(make_index(sequence=6), ALICE).values(), b"x"):
        write_files(here / PACKET, {f"attestations/{path.name}": before})
        assert run("sign", PACKET, "--key", "alice.pem", folder=here) == Ran(0, HEAD + say(ALICE), "")
        assert {path.name: path.read_bytes()} == sign_index(make_index(), ALICE)


def test_a_tar_is_signed_beside_it_or_where_out_says(here: Path) -> None:
    before = (here / "packet.tar").read_bytes()
    ran = run("sign", "packet.tar", "--key", "alice.pem", folder=here)
    assert ran == Ran(0, HEAD + say(ALICE, folder="packet.tar.attestations"), "")
    ran = run("sign", "packet.tar", "--key", "bob.pem", "--out", "signed", folder=here)
    assert ran == Ran(0, HEAD + say(BOB, folder="signed"), "")
    assert read_files(here / "packet.tar.attestations") == sign_index(make_index(), ALICE)
    assert read_files(here / "signed") == sign_index(make_index(), BOB)
    assert (here / "packet.tar").read_bytes() == before
    (here / "trust.yaml").write_text(make_trust(BOB))
    verify = ("verify", "packet.tar", "--trust", "trust.yaml", "--no-rebuild")
    assert run(*verify, folder=here).code == 1
    assert run(*verify, "--attestations", "signed", folder=here).code == 0


def test_what_a_killed_writer_left_is_cleared_away(here: Path) -> None:
    (here / "signed").mkdir()
    (here / "signed" / TEMP_NAME).write_bytes(b"half")
    assert run("sign", PACKET, "--key", "alice.pem", "--out", "signed", folder=here).code == 0
    assert read_files(here / "signed") == sign_index(make_index(), ALICE)


# --- what isn't signed ---


def change(here: Path) -> None:
    (here / PACKET / "receipts/east.json").write_bytes(b"{}\n")


def add(here: Path) -> None:
    (here / PACKET / "more").write_bytes(b"")


def link_attestations(here: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / PACKET / "attestations").symlink_to("../../elsewhere")


UNSIGNED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a-file-changed": (change, "[packet-changed]"),
    "a-file-added": (add, "[packet-added]"),
    "attestations-that-lead-elsewhere": (link_attestations, "[packet-added]"),
}


@pytest.mark.parametrize("name", UNSIGNED)
def test_a_packet_that_does_not_hold_is_not_signed(name: str, here: Path) -> None:
    spoil, code = UNSIGNED[name]
    spoil(here)
    before = read_files(here)
    ran = run("sign", PACKET, "--key", "alice.pem", folder=here)
    assert (ran.code, ran.stdout) == (1, "")
    assert code in ran.stderr
    assert ran.stderr.endswith(f"poolwright sign: {PACKET} isn't signed: its files aren't what it says\n")
    assert read_files(here) == before


def test_a_damaged_tar_is_not_signed(here: Path) -> None:
    (here / "packet.tar").write_bytes(write_tar(GOOD)[:-512])
    assert run("sign", "packet.tar", "--key", "alice.pem", folder=here) == Ran(
        1,
        "",
        "packet.tar: the tar is cut off at its end  [packet-tar]\n"
        "  why  a packet's tar has one form: of any other, readers would unpack different files (poolwright releases)\n"
        "  fix  get the tar again from where it was released\n",
    )


USAGE = {
    ("sign",): "name the PACKET to sign, or a FILE with --new-key",
    ("sign", PACKET): "name a private key: --key FILE, or --key-fd N",
    ("sign", PACKET, "--new-key", "x"): "--new-key makes a key and signs nothing: it stands alone",
    ("sign", PACKET, "--key-fd", "x"): "Invalid value for '--key-fd': 'x' is not a valid integer range.",
}


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_wrong_use_of_sign(arguments: tuple[str, ...], here: Path) -> None:
    ran = run(*arguments, folder=here)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.endswith(f"Error: {USAGE[arguments]}\n")


# --- keys ---

WHY = "  why  who signs has to have the private key, and nothing else is taken for it (poolwright releases)\n"
NO_FILE = "  fix  name a file or an open descriptor that holds the private key\n"
BAD_KEYS: dict[str, tuple[tuple[str, ...], str]] = {
    "no-file": (
        ("--key", "none.pem"),
        f"none.pem: it can't be read: no such file or directory  [key-unusable]\n{WHY}{NO_FILE}",
    ),
    "a-folder": (("--key", "."), f".: it can't be read: is a directory  [key-unusable]\n{WHY}{NO_FILE}"),
    "a-descriptor-that-isn-t-open": (
        ("--key-fd", "731"),
        f"--key-fd 731: it can't be read: bad file descriptor  [key-unusable]\n{WHY}{NO_FILE}",
    ),
    "a-public-key": (
        ("--key", "alice.pub"),
        f"alice.pub: this is a public key, and signing takes the private one  [key-unusable]\n{WHY}"
        "  fix  name the file of the private key\n",
    ),
    "two-bad-ones": (
        ("--key", "b.pem", "--key", "alice.pem", "--key", "a.pem"),
        f"a.pem: it can't be read: no such file or directory  [key-unusable]\n{WHY}{NO_FILE}"
        f"b.pem: it can't be read: no such file or directory  [key-unusable]\n{WHY}{NO_FILE}",
    ),
    "endless": (
        ("--key", "/dev/zero"),
        f"/dev/zero: there is no private key in PEM in it  [key-unusable]\n{WHY}"
        "  fix  make a key with: poolwright sign --new-key FILE\n",
    ),
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_a_key_that_cannot_sign_is_no_answer(name: str, here: Path) -> None:
    (here / "alice.pub").write_text(ALICE.public.pem)
    arguments, text = BAD_KEYS[name]
    assert run("sign", PACKET, *arguments, folder=here) == Ran(2, "", text)
    assert not (here / PACKET / "attestations").exists()


def test_a_key_comes_by_a_descriptor_that_no_program_inherits(here: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, render_private_key(ALICE))
    os.close(writer)
    command = (sys.executable, "-P", "-m", "poolwright", "sign", PACKET, "--key-fd", str(reader))
    ran = subprocess.run(command, cwd=here, pass_fds=(reader,), capture_output=True, text=True, check=False)
    os.close(reader)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, HEAD + say(ALICE), "")


def test_a_new_key_is_this_user_s_alone_and_signs(here: Path) -> None:
    before = os.umask(0)
    try:
        ran = run("sign", "--new-key", "release.pem", folder=here)
    finally:
        os.umask(before)
    assert (ran.code, ran.stderr) == (0, "")
    assert stat.S_IMODE((here / "release.pem").stat().st_mode) == 0o600
    key = parse_private_key((here / "release.pem").read_bytes())
    assert (key.public.algorithm, yaml.safe_load(ran.stdout)) == (
        "Ed25519",
        [{"name": "release", "publicKey": key.public.pem}],
    )
    assert ran.stdout.startswith(
        '# "release.pem" has a new private key (Ed25519): who has it signs as you do\n'
        f"# its entry for `keys` of a project in the trust file; its id is\n#   {key.public.id}\n"
    )
    entry = "".join(f"      {line}\n" for line in ran.stdout.splitlines())
    head = "apiVersion: poolwright.dev/v1alpha1\nkind: TrustPolicy\nprojects:\n  - name: inference-fleet\n    keys:\n"
    assert parse_trust((head + entry).encode(), "trust.yaml").projects[0].keys[0].public_key == key.public.pem
    (here / "trust.yaml").write_text(head + entry)
    assert run("sign", PACKET, "--key", "release.pem", folder=here).code == 0
    assert run("verify", PACKET, "--trust", "trust.yaml", "--no-rebuild", folder=here).code == 0


def test_two_new_keys_are_not_the_same(here: Path) -> None:
    run("sign", "--new-key", "1.pem", folder=here)
    run("sign", "--new-key", "2.pem", folder=here)
    assert (here / "1.pem").read_bytes() != (here / "2.pem").read_bytes()


TAKEN = """\
release.pem: there is something of that name already  [key-taken]
  why  a key that is overwritten is gone, and what it signed can be signed no more (poolwright releases)
  fix  name another file
"""


def test_a_new_key_overwrites_nothing_and_stays_out_of_projects(here: Path) -> None:
    (here / "release.pem").symlink_to("nowhere")
    assert run("sign", "--new-key", "release.pem", folder=here) == Ran(2, "", TAKEN)
    assert not (here / "nowhere").exists()
    assert run("sign", "--new-key", "none/release.pem", folder=here).stderr.startswith("poolwright: none/release.pem: ")
    (here / "poolwright.yaml").write_text("")
    ran = run("sign", "--new-key", "releases/key.pem", folder=here)
    assert (ran.code, ran.stdout, ran.stderr) == (
        2,
        "",
        f"poolwright: --new-key: releases/key.pem lies in the project {here}: a key that is committed is everybody's\n",
    )
    assert not (here / "releases/key.pem").exists()


# --- what is loaded ---

TRACE = """\
import json, sys
from poolwright.cli.main import main
sys.argv = ["poolwright", *sys.argv[1:]]
try:
    main()
finally:
    json.dump(sorted(sys.modules), open("modules.json", "w"))
"""
# What reads a project or its repository, or reaches anything but files.
NOT_LOADED = (
    *("poolwright.specs.parse", "poolwright.specs.document", "poolwright.catalog", "poolwright.allocation"),
    *("poolwright.git", "poolwright.kustomize", "poolwright.sandbox", "poolwright.registry", "poolwright.review"),
    *("poolwright.objects", "poolwright.plan", "poolwright.trust", "poolwright.files.project", "poolwright.argocd"),
    *("yaml", "git", "jinja2", "jsonschema_rs", "re2", "cel_expr_python", "deepdiff"),
    *("urllib.request", "urllib3", "http", "socket", "ssl", "subprocess", "securesystemslib"),
)


def test_who_signs_loads_nothing_that_reads_a_project(here: Path) -> None:
    command = (sys.executable, "-P", "-c", TRACE, "sign", PACKET, "--key", "alice.pem", "--key", "dora.pem")
    ran = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    loaded = json.loads((here / "modules.json").read_text())
    assert "poolwright.attestations.envelope" in loaded
    assert [one for one in loaded if one in NOT_LOADED or one.startswith(tuple(f"{x}." for x in NOT_LOADED))] == []


def test_commands_that_do_not_sign_load_no_cryptography(here: Path) -> None:
    command = (sys.executable, "-P", "-c", TRACE, "pin", "--help")
    assert subprocess.run(command, cwd=here, capture_output=True, check=False).returncode == 0
    loaded = json.loads((here / "modules.json").read_text())
    assert [one for one in loaded if one.startswith(("cryptography", "poolwright.attestations"))] == []


def test_it_runs_as_users_run_it(here: Path) -> None:
    assert start("sign", PACKET, "--key", "alice.pem", folder=here) == Ran(0, HEAD + say(ALICE), "")
