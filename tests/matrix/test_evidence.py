"""What the snapshots of a record show: whether they are those, and what became of its claims."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet import FACTS, Files, edit, list_rehearsals, read_fleet
from poolwright.matrix.evidence import Evidence, list_evidence_files, say_evidence, verify_evidence
from poolwright.specs.digest import digest_bytes
from poolwright.specs.finding import render_text
from poolwright.specs.parse import Spec
from poolwright.specs.parse_rehearsals import parse_rehearsals
from poolwright.specs.rehearsal import Rehearsal
from rehearsal_records import build_records

FILES = read_fleet()
RECORD = "rehearsals/26-7/h100-full-perpod-vllm/upgrade.yaml"
BEFORE = "evidence/26-7/h100-full-perpod-vllm/upgrade/before.jsonl"
AFTER = "evidence/26-7/h100-full-perpod-vllm/upgrade/after.jsonl"


def find_record(files: Files, path: str = RECORD) -> Spec[Rehearsal]:
    return next(one for one in parse_rehearsals(list_rehearsals(files)) if one.document.file == path)


def verify(files: Files) -> Evidence:
    return verify_evidence(find_record(files), files, FACTS)


def change_snapshot(path: str, *changes: tuple[str, str]) -> dict[str, bytes]:
    """The example with another snapshot, which its record names."""
    files = edit(FILES, path, *changes)
    return edit(files, RECORD, (digest_bytes(FILES[path]), digest_bytes(files[path])))


def test_the_shipped_records_are_what_their_script_writes() -> None:
    shipped = {path: data for path, data in FILES.items() if path.startswith(("rehearsals/", "evidence/"))}
    assert shipped == build_records()


def test_every_record_of_the_example_is_synthetic() -> None:
    assert all(record.value.spec.synthetic for record in parse_rehearsals(list_rehearsals(FILES)))


def test_the_example_shows_what_became_of_its_claims() -> None:
    evidence = verify(FILES)
    assert evidence.findings == ()
    assert [(fate.title, fate.fate) for fate in evidence.fates] == [
        ("chat/chat-70b-a-gpu", "kept"),
        ("chat/chat-70b-b-gpu", "gone"),
        ("chat/chat-70b-c-gpu", "new"),
    ]
    assert {end: [one.possible for one in answers] for end, answers in evidence.replays.items()} == {
        "before": ["possible", "possible"],
        "after": ["possible", "possible"],
    }
    assert say_evidence(evidence) == (
        "claims: 1 gone, 1 kept, 1 new; 4 of 4 allocations are ones that the allocator can make"
    )


def test_absent_snapshots_are_said() -> None:
    record = find_record(FILES, "rehearsals/26-7/h100-full-perpod-vllm/install.yaml")
    assert list_evidence_files(record) == {
        "before": "evidence/26-7/h100-full-perpod-vllm/install/before.jsonl",
        "after": "evidence/26-7/h100-full-perpod-vllm/install/after.jsonl",
    }
    evidence = verify_evidence(record, FILES, FACTS)
    assert (evidence.findings, evidence.fates, dict(evidence.replays)) == ((), (), {})
    assert say_evidence(evidence) == (
        "not verifiable here: evidence/26-7/h100-full-perpod-vllm/install/before.jsonl and "
        "evidence/26-7/h100-full-perpod-vllm/install/after.jsonl are missing"
    )


def test_what_is_wrong_is_said_before_what_is_missing() -> None:
    files = {path: data for path, data in FILES.items() if path != BEFORE}
    assert say_evidence(verify({**files, AFTER: b"{}"})) == "1 problem with its snapshots"
    assert say_evidence(verify(files)) == f"not verifiable here: {BEFORE} is missing"


SAME = "put back the snapshots that were taken, or rehearse again"
NAME = 'rehearsal "h100-full-perpod-vllm-upgrade"'


def refused(end: str, what: str, why: str) -> str:
    line = 26 if end == "before" else 27
    column = 13 if end == "before" else 12
    return f"""\
{RECORD}:{line}:{column}: warning: {NAME} {what}  [rehearsal-refused]
  at   spec.claims.{end}
  why  {why} (poolwright.dev/v1alpha1)
  fix  {SAME}
"""


OTHER = "a snapshot of something else shows nothing of the rehearsal"
CASES: dict[str, tuple[Callable[[], Files], str]] = {
    "a-snapshot-that-was-edited": (
        lambda: {**FILES, AFTER: FILES[BEFORE]},
        refused(
            "after",
            f"names {digest_bytes(FILES[AFTER])}, and {AFTER} has {digest_bytes(FILES[BEFORE])}",
            "what isn't the snapshot that was taken shows nothing of the rehearsal",
        ),
    ),
    "a-snapshot-that-is-none": (
        lambda: change_snapshot(BEFORE, ('"chat-70b-a-gpu"', '"z"')),
        refused(
            "before",
            f"names a snapshot that can't be read: {BEFORE}",
            "what can't be read shows nothing of the rehearsal; problems in it: 1",
        )
        + f"""\
{BEFORE}:4:1: warning: ResourceClaim chat/chat-70b-b-gpu is out of order  [snapshot-unreadable]
  why  objects are sorted by apiVersion, kind, namespace and name (poolwright snapshot format)
  fix  capture the cluster again; a snapshot is never edited
""",
    ),
    "another-cluster": (
        lambda: change_snapshot(BEFORE, ('"cluster":"lab"', '"cluster":"east"')),
        refused("before", f"says cluster lab, and {BEFORE} is of east", OTHER),
    ),
    "another-kubernetes": (
        lambda: change_snapshot(AFTER, ("v1.36.2", "v1.36.1")),
        refused("after", f"says Kubernetes 1.36.2, and {AFTER} is of v1.36.1", OTHER),
    ),
    "devices-that-the-allocator-can't-give": (
        lambda: change_snapshot(AFTER, ('"device":"gpu-1"', '"device":"gpu-0"')),
        "".join(
            f"""\
{RECORD}:27:12: warning: claim chat/{name} of {AFTER} has gpu.nvidia.com/h100-0/gpu-0, which the allocator can't give \
it: another claim holds gpu.nvidia.com/h100-0/gpu-0 too  [rehearsal-claims]
  at   spec.claims.after
  why  an allocation that the scheduler doesn't make was made by somebody else, or isn't understood here \
(poolwright.dev/v1alpha1)
  fix  find out who allocated it; if it was the scheduler, report the snapshot as a bug of Poolwright
"""
            for name in ("chat-70b-a-gpu", "chat-70b-c-gpu")
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_snapshots(name: str) -> None:
    build, expected = CASES[name]
    assert render_text(verify(build()).findings) == expected


def test_the_other_end_may_have_had_another_kubernetes() -> None:
    files = change_snapshot(BEFORE, ("v1.36.2", "v1.35.4"))
    files = edit(files, RECORD, ("from: {gpuDriver: 580.167.08}", "from: {kubernetes: 1.35.4}"))
    assert verify(files).findings == ()


def test_an_allocator_that_is_not_modelled_is_not_guessed() -> None:
    files = change_snapshot(BEFORE, ("v1.36.2", "v1.33.9"))
    files = edit(files, RECORD, ("from: {gpuDriver: 580.167.08}", "from: {kubernetes: 1.33.9}"))
    evidence = verify(files)
    assert (evidence.findings, list(evidence.replays)) == ((), ["after"])
    assert evidence.not_replayed == "the allocator of Kubernetes v1.33.9 isn't modelled"
    assert say_evidence(evidence).endswith("; the allocator of Kubernetes v1.33.9 isn't modelled")
