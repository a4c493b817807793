"""Waivers: which findings they cover on which day, and what is wrong with them, with the whole text that says so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from fleet import ENVELOPE, FACTS, PLACEMENTS, POOL, PROJECT, STACK, edit, list_specs, read_small_fleet
from poolwright.catalog.closure import digest_closure
from poolwright.catalog.units import build_closures
from poolwright.specs.codes import CODES, WAIVABLE, explain_code
from poolwright.specs.finding import Finding, Severity, SpecError, render_text
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place
from poolwright.specs.waiver_rules import list_waivers
from poolwright.specs.waiving import UsedWaiver, apply_waivers
from poolwright.trees.tree import build_folder

FILES = read_small_fleet()
DAY = dt.date(2026, 11, 30)
RECORD = "rehearsals/install.yaml"
# Where a waiver is put in each file, and what stands there.
ENDS = {
    PROJECT: "inventory: inventory/east.yaml   # kubectl get nodes,resourceslices -o yaml\n",
    STACK: "image: registry.example.com/serving/vllm-openai:v0.33.0\n",
    POOL: "    - name: chat\n",
}
# Lines of the two placements, which stand in one file.
FIRST, SECOND = "  surge: 1\n", "  surge: 0\n"


def write(rule: str, path: str | None = None, *, expires: str = "2027-01-31", owner: str = "platform-gpu") -> str:
    at = f"path: '{path}', " if path else ""
    return f"    - {{rule: {rule}, {at}reason: For now., owner: {owner}, expires: {expires}}}\n"


def waive(*written: tuple[str, str], files: Mapping[str, bytes] = FILES) -> Specs:
    """The small fleet with waivers: each with the file, or the line of a placement, that it is put after."""
    changed = dict(files)
    for end, waivers in written:
        name, line = (end, ENDS[end]) if end in ENDS else (PLACEMENTS, end)
        changed = edit(changed, name, (line, f"{line}  waivers:\n{waivers}"))
    return parse_specs(list_specs(changed))


def find(code: str, place: Place, severity: Severity = "error") -> Finding:
    return Finding(code=code, severity=severity, place=place, what="what", why="why", fix="fix")


def use(rule: str, kind: str, name: str, file: str, path: str | None = None, expires: str = "2027-01-31") -> UsedWaiver:
    return UsedWaiver(
        rule=rule,
        path=path,
        kind=kind,
        name=name,
        reason="For now.",
        owner="platform-gpu",
        expires=expires,
        file=file,
    )


PLAIN = parse_specs(list_specs(FILES))
ON_STACK = replace(PLAIN.stacks[0].place("metadata", "name"), field="matrix[a/full/perPod/vllm].recovery")
ON_IMAGE = PLAIN.stacks[0].place("spec", "servingImages", 0, "image")
ON_POOL = PLAIN.pools[0].place("spec", "deviceClasses")
ON_FIRST = PLAIN.placements[0].place("spec", "minReplicas")
ON_ENVELOPE = PLAIN.envelopes_by_identity["chat-70b@2.3.0"].place("spec", "load")
ON_PROJECT = Place(PROJECT)
ON_RECORD = Place(RECORD, 9, 3, "spec.date")
ROW = "matrix[a/full/perPod/vllm]"
STACK_NAME, PROJECT_NAME = "kubernetes-1-36", "inference-fleet"

# The waivers, a finding's code and place, and who covers it.
COVERED: dict[str, tuple[Sequence[tuple[str, str]], str, Place, UsedWaiver | None]] = {
    "its-rule-on-the-whole-spec": (
        [(STACK, write("rehearsal-missing"))],
        "rehearsal-missing",
        ON_STACK,
        use("rehearsal-missing", "Stack", STACK_NAME, STACK),
    ),
    "another-rule-isnt": ([(STACK, write("rehearsal-stale"))], "rehearsal-missing", ON_STACK, None),
    "the-path-as-it-is-printed": (
        [(STACK, write("rehearsal-missing", f"{ROW}.recovery"))],
        "rehearsal-missing",
        ON_STACK,
        use("rehearsal-missing", "Stack", STACK_NAME, STACK, f"{ROW}.recovery"),
    ),
    "a-path-covers-what-is-below-it": (
        [(STACK, write("rehearsal-missing", ROW))],
        "rehearsal-missing",
        ON_STACK,
        use("rehearsal-missing", "Stack", STACK_NAME, STACK, ROW),
    ),
    "an-entry-of-a-list-is-below-it": (
        [(STACK, write("image-not-pinned", "spec.servingImages"))],
        "image-not-pinned",
        ON_IMAGE,
        use("image-not-pinned", "Stack", STACK_NAME, STACK, "spec.servingImages"),
    ),
    "half-a-word-is-no-path": (
        [(STACK, write("image-not-pinned", "spec.servingIm"))],
        "image-not-pinned",
        ON_IMAGE,
        None,
    ),
    "what-is-above-a-path-isnt": (
        [(STACK, write("image-not-pinned", "spec.servingImages[0].image.digest"))],
        "image-not-pinned",
        ON_IMAGE,
        None,
    ),
    "another-spec-isnt": ([(POOL, write("image-not-pinned"))], "image-not-pinned", ON_IMAGE, None),
    "the-project-covers-no-other-spec": ([(PROJECT, write("image-not-pinned"))], "image-not-pinned", ON_IMAGE, None),
    "nor-by-the-name-of-its-file": ([(PROJECT, write("image-not-pinned", STACK))], "image-not-pinned", ON_IMAGE, None),
    "a-pool-by-itself": (
        [(POOL, write("pool-crowded"))],
        "pool-crowded",
        ON_POOL,
        use("pool-crowded", "Pool", "h100-full", POOL),
    ),
    "a-placement-is-called-after-its-cluster": (
        [(FIRST, write("verdict-short"))],
        "verdict-short",
        ON_FIRST,
        use("verdict-short", "Placement", "east/chat-70b", PLACEMENTS),
    ),
    "another-document-of-the-file-isnt": ([(SECOND, write("verdict-short"))], "verdict-short", ON_FIRST, None),
    "a-file-of-one-spec-without-a-line": (
        [(PROJECT, write("rehearsal-missing"))],
        "rehearsal-missing",
        ON_PROJECT,
        use("rehearsal-missing", "Project", PROJECT_NAME, PROJECT),
    ),
    "of-two-specs-without-a-line-neither": (
        [(FIRST, write("verdict-short")), (SECOND, write("verdict-short"))],
        "verdict-short",
        Place(PLACEMENTS),
        None,
    ),
    "an-envelope-by-all-that-run-it": (
        [(FIRST, write("recovery-short"))],
        "recovery-short",
        ON_ENVELOPE,
        use("recovery-short", "Placement", "east/chat-70b", PLACEMENTS),
    ),
    "an-envelope-that-another-runs-isnt": ([(SECOND, write("recovery-short"))], "recovery-short", ON_ENVELOPE, None),
    "an-envelope-by-the-project-and-its-file": (
        [(PROJECT, write("recovery-short", ENVELOPE))],
        "recovery-short",
        ON_ENVELOPE,
        use("recovery-short", "Project", PROJECT_NAME, PROJECT, ENVELOPE),
    ),
    "a-record-by-the-project-and-its-file": (
        [(PROJECT, write("rehearsal-refused", RECORD))],
        "rehearsal-refused",
        ON_RECORD,
        use("rehearsal-refused", "Project", PROJECT_NAME, PROJECT, RECORD),
    ),
    "a-record-by-file-and-field": (
        [(PROJECT, write("rehearsal-refused", f"{RECORD}:spec"))],
        "rehearsal-refused",
        ON_RECORD,
        use("rehearsal-refused", "Project", PROJECT_NAME, PROJECT, f"{RECORD}:spec"),
    ),
    "another-field-of-a-record-isnt": (
        [(PROJECT, write("rehearsal-refused", f"{RECORD}:spec.step"))],
        "rehearsal-refused",
        ON_RECORD,
        None,
    ),
    "a-record-without-a-path-isnt": ([(PROJECT, write("rehearsal-refused"))], "rehearsal-refused", ON_RECORD, None),
    "a-record-by-another-spec-isnt": (
        [(STACK, write("rehearsal-refused", RECORD))],
        "rehearsal-refused",
        ON_RECORD,
        None,
    ),
}


@pytest.mark.parametrize("name", COVERED)
def test_covered(name: str) -> None:
    written, code, place, used = COVERED[name]
    specs = waive(*written)
    finding = find(code, place)  # above what is written into its file
    applied = apply_waivers([finding], specs, DAY, judged=())
    if used is None:
        assert (applied.findings, applied.used) == ((finding,), ())
    else:
        assert applied.findings == (replace(finding, severity="warning", waived=used),)
        assert applied.used == (used,)


SEVERITIES: dict[str, tuple[Severity, Severity]] = {
    "an-error-becomes-a-warning": ("error", "warning"),
    "a-warning-stays-one": ("warning", "warning"),
    "a-note-gets-no-worse": ("note", "note"),
}


@pytest.mark.parametrize(("before", "after"), SEVERITIES.values(), ids=SEVERITIES)
def test_severity(before: Severity, after: Severity) -> None:
    specs = waive((STACK, write("image-not-pinned")))
    applied = apply_waivers([find("image-not-pinned", ON_IMAGE, before)], specs, DAY)
    assert [(one.severity, one.waived is not None) for one in applied.findings] == [(after, True)]


# Waivers on both placements, which run one envelope, by their last days, and the day that is said.
LASTS: dict[str, tuple[str, str, str | None]] = {
    "to-the-first-end": ("2027-01-31", "2026-12-24", "2026-12-24"),
    "until-one-has-ended": ("2027-01-31", "2026-11-29", None),
}


@pytest.mark.parametrize(("first", "second", "until"), LASTS.values(), ids=LASTS)
def test_an_envelope_that_two_run(first: str, second: str, until: str | None) -> None:
    files = edit(FILES, PLACEMENTS, ("version: 2.4.0", "version: 2.3.0"))
    written = ((FIRST, write("recovery-short", expires=first)), (SECOND, write("recovery-short", expires=second)))
    applied = apply_waivers([find("recovery-short", ON_ENVELOPE)], waive(*written, files=files), DAY)
    found = next(one for one in applied.findings if one.code == "recovery-short")
    assert (found.waived.expires if found.waived else None, len(applied.used)) == (until, 2 if until else 0)


def test_of_two_that_cover_a_finding_the_longer_one_is_said_and_both_are_used() -> None:
    both = write("image-not-pinned", expires="2026-12-24") + write("image-not-pinned", "spec.servingImages")
    applied = apply_waivers([find("image-not-pinned", ON_IMAGE)], waive((STACK, both)), DAY)
    longer = use("image-not-pinned", "Stack", STACK_NAME, STACK, "spec.servingImages")
    shorter = use("image-not-pinned", "Stack", STACK_NAME, STACK, expires="2026-12-24")
    assert [one.waived for one in applied.findings] == [longer]
    assert applied.used == (shorter, longer)


def test_the_text_of_a_waived_finding() -> None:
    applied = apply_waivers([find("image-not-pinned", ON_IMAGE)], waive((STACK, write("image-not-pinned"))), DAY)
    assert render_text(applied.findings) == (
        "specs/stack.yaml:15:14: warning: what  [image-not-pinned]\n"
        "  at   spec.servingImages[0].image\n"
        "  why  why\n"
        "  fix  fix\n"
        "  but  waived until 2027-01-31 by platform-gpu: For now.\n"
    )


ALL = ", ".join(sorted(WAIVABLE))
# A waiver of the stack, the day that is judged on, and what is said beside the finding that it may be for.
SAID: dict[str, tuple[str, str, str]] = {
    "counts-before-its-last-day": (write("image-not-pinned"), "2026-11-30", ""),
    "counts-on-its-last-day": (write("image-not-pinned"), "2027-01-31", ""),
    "expired-the-day-after": (
        write("image-not-pinned"),
        "2027-02-01",
        'specs/stack.yaml:17:80: stack "kubernetes-1-36" waives image-not-pinned until 2027-01-31, and it is 2027-02-01'
        "  [waiver-expired]\n"
        "  at   spec.waivers[0].expires\n"
        "  why  what it was for is what it was again: For now (poolwright.dev/v1alpha1)\n"
        "  fix  mend that and remove the waiver, or have platform-gpu answer for another day\n",
    ),
    "unused": (
        write("rehearsal-missing", ROW),
        "2026-11-30",
        'specs/stack.yaml:17:7: warning: stack "kubernetes-1-36" waives rehearsal-missing at '
        "matrix[a/full/perPod/vllm], and there is no such finding  [waiver-unused]\n"
        "  at   spec.waivers[0]\n"
        "  why  it would hide the next one, to which nobody agreed (poolwright.dev/v1alpha1)\n"
        "  fix  remove it, or write the path that `poolwright check` prints after `at`\n",
    ),
    "unknown-lists-what-is-near": (
        write("rehersal-mising"),
        "2026-11-30",
        'specs/stack.yaml:17:14: stack "kubernetes-1-36" waives rehersal-mising, which is no rule  [waiver-unknown]\n'
        "  at   spec.waivers[0].rule\n"
        "  why  a waiver that names no rule waives nothing, and looks as if it did (poolwright.dev/v1alpha1)\n"
        "  fix  name one that can be waived: rehearsal-missing, rehearsal-claims, rehearsal-stale\n",
    ),
    "unknown-lists-all-where-nothing-is-near": (
        write("xyz"),
        "2026-11-30",
        'specs/stack.yaml:17:14: stack "kubernetes-1-36" waives xyz, which is no rule  [waiver-unknown]\n'
        "  at   spec.waivers[0].rule\n"
        "  why  a waiver that names no rule waives nothing, and looks as if it did (poolwright.dev/v1alpha1)\n"
        f"  fix  name one that can be waived: {ALL}\n",
    ),
    "forbidden": (
        write("gate-off"),
        "2026-11-30",
        'specs/stack.yaml:17:14: stack "kubernetes-1-36" waives gate-off, which can\'t be waived  [waiver-forbidden]\n'
        "  at   spec.waivers[0].rule\n"
        "  why  an exception is for a risk that somebody takes until a day, and this rule's findings are no risk "
        "(poolwright.dev/v1alpha1)\n"
        f"  fix  mend what it is for and remove the waiver; can be waived: {ALL}\n",
    ),
    # Otherwise a change of one of them would be shown as none.
    "twice": (
        write("image-not-pinned") + write("image-not-pinned", expires="2026-12-24"),
        "2026-11-30",
        "specs/stack.yaml:18:7: the waiver of image-not-pinned exists already, at specs/stack.yaml:17:7  "
        "[duplicate-name]\n"
        "  at   spec.waivers[1]\n"
        "  why  a name stands for one thing, so that every reference and every finding is about that one "
        "(poolwright.dev/v1alpha1)\n"
        "  fix  rename or remove one of the two\n",
    ),
}


@pytest.mark.parametrize(("written", "day", "says"), SAID.values(), ids=SAID)
def test_said_of_a_waiver(written: str, day: str, says: str) -> None:
    finding = find("image-not-pinned", ON_IMAGE)
    applied = apply_waivers([finding], waive((STACK, written)), dt.date.fromisoformat(day))
    assert render_text(one for one in applied.findings if one.code != finding.code) == says
    is_waived = any(one.waived for one in applied.findings)
    assert is_waived == bool(applied.used) == ("image-not-pinned" in written and "expired" not in says)


AGES: dict[str, tuple[str, str]] = {
    "as-long-as-is-allowed": ("62d", ""),
    "a-day-longer": (
        "61d",
        'specs/stack.yaml:17:80: stack "kubernetes-1-36" waives image-not-pinned until 2027-01-31, 62 days after '
        "2026-11-30, and the project allows 61d  [waiver-too-long]\n"
        "  at   spec.waivers[0].expires\n"
        "  why  what lasts longer is no exception: it is looked at again before (poolwright.dev/v1alpha1)\n"
        "  fix  write an earlier day, or a longer policy.waiverMaxAge\n",
    ),
}


@pytest.mark.parametrize(("age", "says"), AGES.values(), ids=AGES)
def test_how_long_a_waiver_may_count(age: str, says: str) -> None:
    files = edit(FILES, PROJECT, ("  clusters:\n", f"  policy: {{waiverMaxAge: {age}}}\n  clusters:\n"))
    specs = waive((STACK, write("image-not-pinned")), files=files)
    applied = apply_waivers([find("image-not-pinned", ON_IMAGE)], specs, DAY)
    assert render_text(one for one in applied.findings if one.waived is None) == says


def test_of_a_rule_that_wasnt_judged_nothing_is_said_to_be_unused() -> None:
    specs = waive((STACK, write("image-not-pinned") + write("rehearsal-missing")))
    assert [one.what for one in apply_waivers((), specs, DAY, judged=("image-not-pinned",)).findings] == [
        'stack "kubernetes-1-36" waives image-not-pinned, and there is no such finding'
    ]


def test_a_finding_that_is_waived_already_stays_as_it_is() -> None:
    specs = waive((STACK, write("image-not-pinned")))
    once = apply_waivers([find("image-not-pinned", ON_IMAGE)], specs, DAY)
    again = apply_waivers(once.findings, specs, DAY, judged=())
    assert (again.findings, again.used) == (once.findings, ())


def test_waivers_change_no_closure_and_no_byte() -> None:
    """Not of the placements either, whose specs are part of their units' closures."""
    carried = waive(*((end, write("rehearsal-missing")) for end in (PROJECT, STACK, POOL, FIRST, SECOND)))
    assert len(list(list_waivers(carried))) == 5
    named = {path: data for path, data in FILES.items() if path.startswith("models/")}
    before, after = (build_closures(specs, named, FACTS) for specs in (PLAIN, carried))
    assert [digest_closure(one) for one in after] == [digest_closure(one) for one in before]
    assert [build_folder(one).files for one in after] == [build_folder(one).files for one in before]


def test_what_can_be_waived_is_known_and_explained() -> None:
    assert sorted(WAIVABLE - CODES.keys()) == []
    assert {code for code in CODES if explain_code(code) != CODES[code]} == WAIVABLE
    assert explain_code("surge-tier") == CODES["surge-tier"]
    assert explain_code("surge-short") == f"{CODES['surge-short']} A waiver can make it a warning until a day."


def test_an_envelope_carries_no_waiver() -> None:
    """It is immutable, and its digest is over everything that it says."""
    files = edit(FILES, ENVELOPE, ("  namespace: chat\n", "  namespace: chat\n  waivers: []\n"))
    with pytest.raises(SpecError) as caught:
        parse_specs(list_specs(files))
    assert [(one.code, one.place.field) for one in caught.value.findings] == [("unknown-field", "spec.waivers")]
