"""Rehearsal records: what is read, and what is refused with its whole text."""

from __future__ import annotations

import datetime as dt

import pytest

from poolwright.specs.date import parse_date
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.parse import parse_spec
from poolwright.specs.parse_rehearsals import parse_rehearsals
from poolwright.specs.rehearsal import (
    ClaimSnapshots,
    Combination,
    GateDifferences,
    Hardware,
    NamedVersion,
    OtherEnd,
    RehearsalSpec,
    RuntimeVersion,
)
from rehearsal_records import REHEARSED, build_records, render_record

FILE = "rehearsals/a.yaml"
RECORD = render_record(REHEARSED[-1], "upgrade", {})
DIGESTS = parse_rehearsals({FILE: RECORD.encode()})[0].value.spec.claims


def render(text: str | bytes, *more: str) -> str:
    files = {FILE: text if isinstance(text, bytes) else text.encode()}
    files |= {f"rehearsals/{number}.yaml": other.encode() for number, other in enumerate(more)}
    with pytest.raises(SpecError) as caught:
        parse_rehearsals(files)
    return render_text(caught.value.findings)


def test_a_record_is_a_frozen_value() -> None:
    (record,) = parse_rehearsals({FILE: RECORD.encode()})
    assert record.value.identity == "h200-shared-perpod-vllm-upgrade"
    assert record.value.spec == RehearsalSpec(
        combination=Combination(
            kubernetes="1.36.2",
            feature_gates=GateDifferences(dra_drivers={"dra-driver-nvidia-gpu": {"ConsumableShares": True}}),
            gpu_operator="26.7.0",
            dra_drivers=(NamedVersion(name="dra-driver-nvidia-gpu", version="0.5.0"),),
            gpu_driver="595.91.07",
            container_runtime=RuntimeVersion(name="containerd", version="2.2.1"),
            container_toolkit="1.20.0",
            cdi=True,
            hardware=Hardware(model="h200-sxm-141gb", mode="shared"),
            claim_pattern="perPod",
            serving_image=NamedVersion(name="vllm", version="0.33.0"),
        ),
        step="upgrade",
        from_=OtherEnd(gpu_driver="595.71.05"),
        by="ben@platform-gpu",
        date="2026-11-11",
        cluster_name="lab-alpha",
        commit=record.value.spec.commit,
        evidence="evidence/26-7-shares/h200-shared-perpod-vllm/upgrade/",
        claims=ClaimSnapshots(before=DIGESTS.before, after=DIGESTS.after),
        node_changes=(),
        synthetic=True,
    )
    assert record.value.spec.date.date == dt.date(2026, 11, 11)
    assert str(record.place("spec", "from", "gpuDriver")) == "rehearsals/a.yaml:19:21"


def test_records_stand_in_the_order_of_their_files() -> None:
    files = {path: data for path, data in build_records().items() if path.startswith("rehearsals/")}
    records = parse_rehearsals(dict(reversed(files.items())))
    assert [record.document.file for record in records] == sorted(files)


ONE = "a record is added as a file of its own and never edited, so that history shows who added which"
FIX = "write one document with kind: Rehearsal, or move the file to where its kind belongs"
ONLY_ONE = f"""\
  why  {ONE} (poolwright.dev/v1alpha1)
  fix  {FIX}
"""


def file_problem(place: str, what: str, at: str = "") -> str:
    field = f"  at   {at}\n" if at else ""
    return f"{place}: {what}, and a file under rehearsals/ is one Rehearsal  [rehearsal-file]\n{field}{ONLY_ONE}"


WHOLE: dict[str, tuple[str | bytes, str]] = {
    "an-empty-file": (
        "",
        """\
rehearsals/a.yaml: it holds 0 documents, and a file under rehearsals/ is one Rehearsal  [rehearsal-file]
  why  a record is added as a file of its own and never edited, so that history shows who added which \
(poolwright.dev/v1alpha1)
  fix  write one document with kind: Rehearsal, or move the file to where its kind belongs
""",
    ),
    "two-records-in-a-file": (f"{RECORD}---\n{RECORD}", file_problem(FILE, "it holds 2 documents")),
    "a-list": ("[]\n", file_problem(f"{FILE}:1:1", "it holds something else")),
    "a-list-of-records": ("- kind: Rehearsal\n", file_problem(f"{FILE}:1:1", "it holds something else")),
    "a-text": ("Rehearsal\n", file_problem(f"{FILE}:1:1", "it holds something else")),
    "another-kind": ("kind: Stack\n", file_problem(f"{FILE}:1:7", 'it holds a document of kind "Stack"', "kind")),
    "a-range-is-no-version": (
        RECORD.replace("kubernetes: 1.36.2", "kubernetes: 1.36.x"),
        """\
rehearsals/a.yaml:7:17: spec.combination.kubernetes is "1.36.x"  [invalid-value]
  at   spec.combination.kubernetes
  why  it must be one version, with all its numbers (poolwright.dev/v1alpha1)
  fix  it is a range of them; write one, with all its numbers
""",
    ),
    "a-version-that-is-a-number": (
        RECORD.replace("kubernetes: 1.36.2", "kubernetes: 1.36"),
        """\
rehearsals/a.yaml:7:17: spec.combination.kubernetes is the number 1.36  [wrong-type]
  at   spec.combination.kubernetes
  why  it must be a string (poolwright.dev/v1alpha1)
  fix  quote it: "1.36"
""",
    ),
    "a-day-that-the-calendar-lacks": (
        RECORD.replace("date: 2026-11-11", "date: 2026-02-30"),
        """\
rehearsals/a.yaml:21:9: spec.date is "2026-02-30"  [invalid-value]
  at   spec.date
  why  it must be a date YYYY-MM-DD (poolwright.dev/v1alpha1)
  fix  the calendar has no such day
""",
    ),
    "node-changes-are-always-said": (
        RECORD.replace("  nodeChanges: []\n", ""),
        """\
rehearsals/a.yaml:5:1: "nodeChanges" is missing in spec  [missing-field]
  at   spec
  why  it is required: Nodes that were changed by hand, and how. Anything but [] refuses the record \
(poolwright.dev/v1alpha1)
  fix  add "nodeChanges"
""",
    ),
    "a-folder-that-leaves-the-project": (
        RECORD.replace("evidence: evidence/26-7-shares", "evidence: ../26-7-shares"),
        """\
rehearsals/a.yaml:24:13: spec.evidence is "../26-7-shares/h200-shared-perpod-vllm/upgrade/"  [invalid-value]
  at   spec.evidence
  why  it must be a folder inside the project, written as a path, with '/' at its end or without \
(poolwright.dev/v1alpha1)
  fix  write it as in evidence/a/
""",
    ),
    "every-problem-at-once": (
        RECORD.replace("step: upgrade", "step: upgraded").replace("cdi: true", "cdi: yes"),
        """\
rehearsals/a.yaml:14:10: spec.combination.cdi is the string "yes"  [wrong-type]
  at   spec.combination.cdi
  why  it must be true or false (poolwright.dev/v1alpha1)
  fix  write true or false, without quotes
rehearsals/a.yaml:18:9: spec.step is "upgraded"  [unknown-value]
  at   spec.step
  why  it must be one of: install, recovery, rollback, upgrade (poolwright.dev/v1alpha1)
  fix  did you mean "upgrade"?
""",
    ),
    "a-driver-that-stands-twice": (
        RECORD.replace("version: 0.5.0}]", "version: 0.5.0}, {name: dra-driver-nvidia-gpu, version: 0.4.0}]"),
        """\
rehearsals/a.yaml:10:72: the entry "dra-driver-nvidia-gpu" of spec.combination.draDrivers exists already, at \
rehearsals/a.yaml:10:25  [duplicate-name]
  at   spec.combination.draDrivers[1].name
  why  a name stands for one thing, so that every reference and every finding is about that one \
(poolwright.dev/v1alpha1)
  fix  rename or remove one of the two
""",
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_refused(name: str) -> None:
    text, expected = WHOLE[name]
    assert render(text) == expected


def test_two_records_of_one_name() -> None:
    assert render(RECORD, RECORD) == (
        'rehearsals/a.yaml:4:9: the rehearsal "h200-shared-perpod-vllm-upgrade" exists already, at '
        "rehearsals/0.yaml:4:9  [duplicate-name]\n"
        "  at   metadata.name\n"
        "  why  a name stands for one thing, so that every reference and every finding is about that one "
        "(poolwright.dev/v1alpha1)\n"
        "  fix  rename or remove one of the two\n"
    )


HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "nested-without-end": ("spec: " + "[" * 200 + "]" * 200, "yaml-depth"),
    "not-utf-8": (b"kind: Rehearsal\xff", "yaml-encoding"),
    "an-alias": ("a: &a []\nb: *a\n", "yaml-alias"),
    "larger-than-a-spec": ("#" * ((1 << 20) + 1), "file-too-large"),
    "ten-thousand-node-changes-of-maps": (
        RECORD.replace("nodeChanges: []", "nodeChanges: [" + "{}, " * 10_000 + "]"),
        "wrong-type",
    ),
    "gates-that-are-no-names": (
        RECORD.replace("ConsumableShares: true", '"x y": true, "": 1'),
        "invalid-value",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_within_bounds(name: str) -> None:
    text, code = HOSTILE[name]
    with pytest.raises(SpecError) as caught:
        parse_rehearsals({FILE: text if isinstance(text, bytes) else text.encode()})
    assert code in {finding.code for finding in caught.value.findings}
    assert len(caught.value.findings) <= 101


def test_a_record_among_the_specs_says_where_it_belongs() -> None:
    (document,) = parse_documents(RECORD.encode(), "specs/a.yaml")
    with pytest.raises(SpecError) as caught:
        parse_spec(document)
    assert [finding.fix for finding in caught.value.findings] == ["move it to a file of its own under rehearsals/"]


@pytest.mark.parametrize("text", ["2026-1-2", "20260102", "2026-W01-1", "2026-13-01", "", "2026-01-02\n", "٢٠٢٦-٠١-٠٢"])
def test_what_is_no_date(text: str) -> None:
    with pytest.raises(ValueError, match="is not a date: "):
        parse_date(text)
