"""The version step that a new envelope version deserves, and from which version it is taken."""

from __future__ import annotations

import pytest

from change_sides import compare, say_findings
from fleet import CONFIG, NEXT_ENVELOPE, PLACEMENTS, Files, edit, read_small_fleet
from poolwright.changes.steps.compare import find_step

SMALL = read_small_fleet()
FILE = "specs/envelopes/chat-70b/new.yaml"
Edit = tuple[str, str]
OWNER: Edit = ("owner: team-chat", "owner: team-next")
RENDERED = "what it renders differs"
CLAIMED = "what it claims, or where it may be placed, differs"
LABELS = "nothing that is rendered differs outside labels and annotations"
ADAPTERS: Edit = (
    "  topology:",
    "  adapters:\n    slots: 2\n    maxRank: 16\n    items:\n"
    f"      - {{name: legal, path: legal, rank: 8, digest: sha256:{'1' * 64}}}\n"
    f"      - {{name: medical, path: medical, rank: 8, digest: sha256:{'2' * 64}}}\n  topology:",
)
NAMED: Edit = (
    "  topology:",
    "  claim:\n    pattern: named\n    name: chat-devices\n    consumers:\n"
    "      - {kind: Job, name: eval, deviceMemory: 1Gi}\n"
    "      - {kind: Job, name: warm, deviceMemory: 1Gi}\n  topology:",
)


def add(version: str, *changes: Edit, to: Files = SMALL, like: str = NEXT_ENVELOPE, file: str = FILE) -> Files:
    """The files with one version more: 2.4.0 with some texts replaced, unless another one is named."""
    old = "2.3.0" if "2.3.0" in like else "2.4.0"
    return {**to, file: edit({file: to[like]}, file, *changes)[file].replace(old.encode(), version.encode())}


WITH_ADAPTERS = add("2.4.1", ADAPTERS, file="specs/envelopes/adapters.yaml")
WITH_CLAIM = add("2.4.1", NAMED, file="specs/envelopes/claim.yaml")

# From which files, the changes of the version that is new in them, and what that deserves.
CASES: dict[str, tuple[Files, tuple[Edit, ...], str, tuple[str, ...]]] = {
    "nothing but the version": (SMALL, (), "patch", (LABELS,)),
    "another owner": (SMALL, (OWNER,), "patch", (LABELS,)),
    "other weights": (SMALL, (("sha256:9", "sha256:8"),), "major", ("the digest of the weights is another one",)),
    "another name for clients": (
        SMALL,
        (("example.com/llama-3.3-70b-fp8", "example.com/chat"),),
        "major",
        ("it serves example.com/chat, before example.com/llama-3.3-70b-fp8",),
    ),
    "another namespace": (
        SMALL,
        (("namespace: chat", "namespace: talk"),),
        "major",
        ("its namespace is talk, before chat",),
    ),
    "shorter requests": (
        SMALL,
        (("contextTokens: 32768", "contextTokens: 16384"),),
        "major",
        ("requests may have 16384 tokens, before 32768",),
    ),
    "longer requests": (SMALL, (("contextTokens: 32768", "contextTokens: 65536"),), "minor", (RENDERED,)),
    "another engine": (
        SMALL,
        (("type: vllm", "type: sglang"),),
        "major",
        ("its engine is sglang, before vllm",),
    ),
    "another share of memory": (SMALL, (("deviceMemoryPercent: 92", "deviceMemoryPercent: 90"),), "minor", (RENDERED,)),
    "fewer requests at once": (SMALL, (("concurrency: 32", "concurrency: 16"),), "minor", (CLAIMED,)),
    "another arithmetic": (SMALL, (("computeClass: fp8", "computeClass: any"),), "minor", (CLAIMED,)),
    "another claim pattern": (
        SMALL,
        (NAMED,),
        "major",
        ("its claim pattern is named, before perPod", "its named claim is chat-devices, before none"),
    ),
    "another named claim": (
        WITH_CLAIM,
        (("name: chat-devices", "name: chat-gpus"),),
        "major",
        ("its named claim is chat-gpus, before chat-devices",),
    ),
    "a consumer that may not use it any more": (
        WITH_CLAIM,
        (("      - {kind: Job, name: eval, deviceMemory: 1Gi}\n", ""),),
        "major",
        ("Job eval may use its claim no longer",),
    ),
    "a consumer more": (
        WITH_CLAIM,
        (("      - {kind: Job, name: eval", "      - {kind: Job, name: more}\n      - {kind: Job, name: eval"),),
        "minor",
        (CLAIMED,),
    ),
    "adapters": (SMALL, (ADAPTERS,), "minor", (RENDERED,)),
    "an adapter that goes": (
        WITH_ADAPTERS,
        ((f"      - {{name: legal, path: legal, rank: 8, digest: sha256:{'1' * 64}}}\n", ""),),
        "major",
        ("adapter legal goes away",),
    ),
    "an adapter with other weights": (
        WITH_ADAPTERS,
        (("sha256:11", "sha256:31"),),
        "major",
        ("the digest of adapter legal is another one",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_version_deserves(case: str) -> None:
    before, changes, deserved, reasons = CASES[case]
    like = next((path for path in before if path.startswith("specs/envelopes/") and "chat-70b" not in path), "")
    text = before[like or NEXT_ENVELOPE].replace(b"2.4.1", b"2.4.0")
    files = {**before, FILE: edit({FILE: text}, FILE, *changes)[FILE].replace(b"2.4.0", b"2.4.2")}
    (step,) = compare(before, files).steps
    assert (step.kind, step.name, step.file) == ("Envelope", "chat-70b", FILE)
    assert (step.taken, step.deserved, step.reasons) == ("patch", deserved, reasons)


# The version that is new, those beside 2.3.0 and 2.4.0, and from which one the step is taken.
EARLIER: dict[str, tuple[str, tuple[str, ...], str | None]] = {
    "the-highest-lower-one": ("3.0.0", (), "2.4.0"),
    "between-two": ("2.3.7", (), "2.3.0"),
    "by-number-and-not-by-letter": ("2.12.0", ("2.9.0", "2.10.0"), "2.10.0"),
    "the-first-of-all": ("1.0.0", (), None),
    # What is on trial promises nothing yet: the step is that from what was released.
    "a-release-after-its-candidates": ("2.5.0", ("2.5.0-rc.1", "2.5.0-rc.2"), "2.4.0"),
    "a-candidate-after-another": ("2.5.0-rc.2", ("2.5.0-rc.1",), "2.4.0"),
    "a-candidate-of-the-next": ("2.6.0-rc.1", ("2.5.0-rc.1",), "2.5.0-rc.1"),
}


@pytest.mark.parametrize("case", EARLIER)
def test_from_which_version(case: str) -> None:
    version, others, earlier = EARLIER[case]
    before = SMALL
    for other in others:
        before = add(other, to=before, file=f"specs/envelopes/{other}.yaml")
    steps = [(one.before, one.after) for one in compare(before, add(version, to=before)).steps]
    assert steps == ([] if earlier is None else [(earlier, version)])


STEPS = {
    "none": ("1.2.3", "1.2.3", "none"),
    "patch": ("1.2.3", "1.2.4", "patch"),
    "minor": ("1.2.3", "1.3.0", "minor"),
    "major": ("1.2.3", "2.0.0", "major"),
    "major-above-minor": ("1.9.9", "2.3.4", "major"),
    "below-one-too": ("0.2.3", "0.3.0", "minor"),
    "back": ("1.2.3", "1.2.2", "back"),
    "back-by-a-major": ("2.0.0", "1.9.0", "back"),
    "to-a-candidate": ("1.2.3", "1.3.0-rc.1", "minor"),
    "from-a-candidate": ("1.3.0-rc.1", "1.3.0", "patch"),
    "back-to-a-candidate": ("1.3.0", "1.3.0-rc.1", "back"),
}


@pytest.mark.parametrize("case", STEPS)
def test_which_step(case: str) -> None:
    before, after, step = STEPS[case]
    assert find_step(before, after) == step


def test_a_version_that_fits_worse_where_it_is_placed() -> None:
    """2.3.0 asks for four devices, its successor for eight: two replicas of it don't fit on one node any more."""
    files = edit(add("2.3.1", ("tensorParallel: 4", "tensorParallel: 8"), like=OLD), PLACEMENTS, ("2.3.0", "2.3.1"))
    (step,) = compare(SMALL, files).steps
    assert (step.before, step.after, step.deserved, step.reasons) == (
        "2.3.0",
        "2.3.1",
        "major",
        ("chat/chat-70b on east was always-fits 2/2 and is order-dependent 1-2/2",),
    )


OLD = "specs/envelopes/chat-70b/2.3.0.yaml"


def test_a_version_that_is_placed_more_often_is_not_at_fault() -> None:
    files = add("2.3.1", OWNER, like=OLD)
    files = edit(files, PLACEMENTS, ("2.3.0", "2.3.1"), ("minReplicas: 1\n  surge: 1", "minReplicas: 9\n  surge: 1"))
    report = compare(SMALL, files)
    assert [(one.deserved, one.reasons) for one in report.steps] == [("patch", (LABELS,))]
    assert "worse" in {one.change for one in report.workloads}


def test_a_version_changed_in_place_takes_no_step_and_is_an_error() -> None:
    report = compare(SMALL, edit(SMALL, OLD, ("concurrency: 32", "concurrency: 31")))
    assert report.steps == ()
    assert [(one.name, one.units) for one in report.envelopes] == [("chat-70b@2.3.0", ("east/chat-70b",))]
    assert say_findings(report) == (
        "specs/envelopes/chat-70b/2.3.0.yaml:6:12: envelope chat-70b@2.3.0 isn't what it was on the base; it is placed "
        "as east/chat-70b  [envelope-changed]\n"
        "  at   metadata.version\n"
        "  why  a version names one meaning for ever: receipts, records and roll-backs go by it "
        "(poolwright.dev/v1alpha1 envelope versions)\n"
        "  fix  give the change a version of its own beside it, and place that; restore this one\n"
    )


def test_a_file_that_a_version_names_is_a_part_of_it() -> None:
    report = compare(SMALL, edit(SMALL, CONFIG, ('"vocab_size": 128256', '"vocab_size": 128257')))
    assert [one.name for one in report.envelopes] == ["chat-70b@2.3.0", "chat-70b@2.4.0"]


def test_other_words_are_no_other_version() -> None:
    after = edit(SMALL, OLD, ("memory: 128Gi", "memory: 131072Mi"), ("apiVersion:", "# As it is.\napiVersion:"))
    report = compare(SMALL, after)
    assert (report.envelopes, report.steps, report.findings) == ((), (), ())
