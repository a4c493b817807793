"""The version step that a pool's change deserves: what is major, minor, patch and none of it."""

from __future__ import annotations

import pytest

from change_sides import compare, say_findings
from fleet import PLACEMENTS, POOL, PROJECT, STACK, Files, edit, read_small_fleet

SMALL = read_small_fleet()
Edit = tuple[str, str]
OWNER: Edit = ("owner: platform-gpu", "owner: platform-hpc")
VERSION: Edit = ("version: 1.0.0", "version: 1.0.1")
QUOTA: Edit = ("- name: chat", "- name: chat\n      quota: {interactive-80g: 32}")
SPACES: Edit = ("- name: chat", "- name: chat\n    - name: rag")
EXTENDED: Edit = ("tier: interactive", "tier: interactive\n      extendedResourceName: example.com/h100")
VERSIONS: Edit = (
    "      capacity:",
    "      versions:\n        driverVersion: {min: 570.0.0, below: 600.0.0}\n      capacity:",
)
MIG = "    - {name: slices, tier: batch, driver: gpu.nvidia.com, attributes: {type: [mig]}}\n"
CLASSES: Edit = ("  tolerations:", MIG + "  tolerations:")
CEL = 'device.attributes["gpu.nvidia.com"].driverVersion\n                .compareTo(semver("580.0.0")) >= 0'
ONE_LINE = 'device.attributes["gpu.nvidia.com"].driverVersion.compareTo(semver("580.0.0")) >= 0'
RAW: Edit = (f"      selectors:\n        - cel:\n            expression: |\n              {CEL}\n", "")
PLANNED: Edit = (
    "  deviceClasses:",
    "  plannedNodes:\n    - {name: more, count: 1, hardwareModel: h100-sxm5-80gb, devicesPerNode: 8, zone: east-a}\n"
    "  deviceClasses:",
)
RESERVED: Edit = (
    "  tolerations:",
    "  reservations:\n    - {deviceClassName: interactive-80g, count: 4, reason: tests, owner: qa}\n  tolerations:",
)
HEADROOM: Edit = ("  namespaces:", "  headroom:\n    tolerateLoss: {nodes: 1}\n  namespaces:")
CAPACITY = """\
      capacity:
        memory: {min: 79Gi, below: 90Gi}   # an "80 GB" H100 publishes 81559Mi = 79.6Gi; below keeps larger parts out
"""
CLASS = "class interactive-80g: "
RENDERED = "what its cluster's platform unit renders of it differs"
UNITS = ("objects of east/chat-70b differ", "objects of east/chat-70b-next differ")
LABELS = "nothing that is rendered differs outside labels and annotations"


def change(*changes: Edit, to: Files = SMALL) -> Files:
    return edit(to, POOL, *changes)


# The base, what the pool's file is changed to, and what that deserves with the reasons.
CASES: dict[str, tuple[Files, Files, str, tuple[str, ...]]] = {
    "a class that goes away": (change(CLASSES), SMALL, "major", ("class slices goes away",)),
    "a class that is new": (SMALL, change(CLASSES), "minor", (RENDERED,)),
    "an attribute that must be there": (
        SMALL,
        change(("type: [gpu]", "type: [gpu]\n        brand: [Nvidia]")),
        "major",
        (f"{CLASS}brand is a new condition",),
    ),
    "an attribute that need not be there": (
        change(("type: [gpu]", "type: [gpu]\n        brand: [Nvidia]")),
        SMALL,
        "minor",
        (RENDERED,),
    ),
    "a value that is taken away": (
        change(("[Hopper]", "[Ampere, Hopper, Blackwell]")),
        SMALL,
        "major",
        (f"{CLASS}architecture may no longer be Ampere, Blackwell",),
    ),
    "a value that is allowed too": (SMALL, change(("[Hopper]", "[Hopper, Blackwell]")), "minor", (RENDERED,)),
    # True is published as a boolean, 1 as a number.
    "a value of another type": (
        change(("type: [gpu]", "type: [gpu]\n        fast: [true]")),
        change(("type: [gpu]", "type: [gpu]\n        fast: [1]")),
        "major",
        (f"{CLASS}fast may no longer be True",),
    ),
    "a capacity cut below": (
        SMALL,
        change(("min: 79Gi", "min: 79.5Gi")),
        "major",
        (f"{CLASS}memory must be at least 81408Mi, before 79Gi",),
    ),
    "a capacity cut above": (
        SMALL,
        change(("below: 90Gi", "below: 81Gi")),
        "major",
        (f"{CLASS}memory must be below 81Gi, before 90Gi",),
    ),
    "a capacity cut by its first bound": (
        change(("{min: 79Gi, below: 90Gi}", "{min: 79Gi}")),
        SMALL,
        "major",
        (f"{CLASS}memory must be below 90Gi",),
    ),
    "a capacity that is new": (
        change((CAPACITY, "")),
        SMALL,
        "major",
        (f"{CLASS}memory must be at least 79Gi", f"{CLASS}memory must be below 90Gi"),
    ),
    "a capacity that is widened": (SMALL, change(("min: 79Gi", "min: 40Gi")), "minor", (RENDERED,)),
    "a bound that goes": (SMALL, change((", below: 90Gi", "")), "minor", (RENDERED,)),
    "a version cut below": (
        change(VERSIONS),
        change((VERSIONS[0], VERSIONS[1].replace("570.0.0", "575.0.0"))),
        "major",
        (f"{CLASS}driverVersion must be at least 575.0.0, before 570.0.0",),
    ),
    "a version cut above": (
        change(VERSIONS),
        change((VERSIONS[0], VERSIONS[1].replace("600.0.0", "590.0.0"))),
        "major",
        (f"{CLASS}driverVersion must be below 590.0.0, before 600.0.0",),
    ),
    # 570.0.0 is above 99.0.0: versions are compared part by part.
    "a version that is widened": (
        change(VERSIONS),
        change((VERSIONS[0], VERSIONS[1].replace("570.0.0", "99.0.0"))),
        "minor",
        (RENDERED,),
    ),
    "a raw clause that is added": (
        SMALL,
        change((CEL, f'{ONE_LINE} && device.attributes["gpu.nvidia.com"].brand == "Nvidia"')),
        "major",
        (f'{CLASS}device.attributes["gpu.nvidia.com"].brand == "Nvidia" is a new condition',),
    ),
    "a raw clause that goes": (
        change((CEL, f'{ONE_LINE} && device.attributes["gpu.nvidia.com"].brand == "Nvidia"')),
        SMALL,
        "minor",
        (RENDERED,),
    ),
    "the only raw selector goes": (
        SMALL,
        change(RAW),
        "minor",
        (RENDERED,),
    ),
    # It checks that the attribute is there, which the raw text didn't: it's no error any more where it isn't.
    "a raw clause that becomes a field": (
        SMALL,
        change(
            RAW,
            ("      capacity:", "      versions:\n        driverVersion: {min: 580.0.0}\n      capacity:"),
        ),
        "major",
        (f"{CLASS}driverVersion must be at least 580.0.0",),
    ),
    "another tier": (
        change(CLASSES),
        change((CLASSES[0], CLASSES[1].replace("batch", "interactive"))),
        "major",
        ("class slices: its tier is interactive, before batch",),
    ),
    # Of the conditions nothing is said: they are about attributes of another domain.
    "another driver": (
        edit(
            change(CLASSES), STACK, ("install: external}", "install: external, driverNames: [gpu.nvidia.com, b.dev]}")
        ),
        edit(
            change((CLASSES[0], CLASSES[1].replace("gpu.nvidia.com", "b.dev"))),
            STACK,
            ("install: external}", "install: external, driverNames: [gpu.nvidia.com, b.dev]}"),
        ),
        "major",
        ("class slices: its driver is b.dev, before gpu.nvidia.com",),
    ),
    "an extended resource that goes": (
        change(EXTENDED),
        SMALL,
        "major",
        (f"{CLASS}pods can't ask for it as example.com/h100 any more",),
    ),
    "an extended resource that is new": (SMALL, change(EXTENDED), "minor", (RENDERED,)),
    "a namespace that goes": (change(SPACES), SMALL, "major", ("namespace rag may claim no longer",)),
    "a namespace that is new": (SMALL, change(SPACES), "minor", (RENDERED,)),
    "a quota that is new": (
        SMALL,
        change(QUOTA),
        "major",
        ("namespace chat may claim 32 of interactive-80g, before any number",),
    ),
    "a quota that is lowered": (
        change(QUOTA),
        change((QUOTA[0], QUOTA[1].replace("32", "31"))),
        "major",
        ("namespace chat may claim 31 of interactive-80g, before 32",),
    ),
    "a quota that is raised": (change(QUOTA), change((QUOTA[0], QUOTA[1].replace("32", "33"))), "minor", (RENDERED,)),
    "a quota that goes": (change(QUOTA), SMALL, "minor", (RENDERED,)),
    # Nobody had any of it before.
    "a quota of a class that is new": (
        SMALL,
        change(CLASSES, ("- name: chat", "- name: chat\n      quota: {slices: 3}")),
        "minor",
        (RENDERED,),
    ),
    "a toleration that is new": (
        SMALL,
        change(("  namespaces:", "    - {key: example.com/lane, operator: Exists}\n  namespaces:")),
        "minor",
        UNITS,
    ),
    "another owner": (SMALL, change(OWNER), "patch", (LABELS,)),
    "planned nodes": (change(RAW), change(RAW, PLANNED), "patch", (LABELS,)),
    "a promise": (SMALL, change(HEADROOM), "patch", (LABELS,)),
    "a reservation that all fit beside": (
        change(RAW, PLANNED),
        change(RAW, PLANNED, (RESERVED[0], RESERVED[1].replace("4", "1"))),
        "patch",
        (LABELS,),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_change_deserves(case: str) -> None:
    before, after, deserved, reasons = CASES[case]
    (step,) = compare(before, after).steps
    assert (step.kind, step.name, step.file) == ("Pool", "h100-full", POOL)
    assert (step.taken, step.deserved, step.reasons) == ("none", deserved, reasons)


# The same meaning in other words: there is no step to speak of.
REWORDED = {
    "a comment": (("# Whole H100s", "# All H100s"),),
    "a raw expression on one line": ((CEL, ONE_LINE),),
    "the driver's domain, written out": (("type: [gpu]", "gpu.nvidia.com/type: [gpu]"),),
    "an amount in another unit": (("min: 79Gi", "min: 80896Mi"),),
    "a value twice": (("[Hopper]", "[Hopper, Hopper]"),),
    "a toleration twice": (
        ("  namespaces:", "    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}\n  namespaces:"),
    ),
}


@pytest.mark.parametrize("case", REWORDED)
def test_other_words_deserve_no_step(case: str) -> None:
    report = compare(SMALL, change(*REWORDED[case]))
    assert (report.steps, report.findings) == ((), ())


def test_the_order_of_a_list_whose_items_have_names_deserves_no_step() -> None:
    first = ("  deviceClasses:\n", "  deviceClasses:\n" + MIG)
    report = compare(change(CLASSES, SPACES), change(first, ("- name: chat", "- name: rag\n    - name: chat")))
    assert (report.steps, report.findings) == ((), ())


EXPERIMENT = edit(SMALL, PLACEMENTS, ("  surge:", "  lane: experiment\n  surge:"))


def test_the_lane_of_a_pool_is_a_consent_of_its_users() -> None:
    (step,) = compare(SMALL, change(("lane: baseline", "lane: experiment"), to=EXPERIMENT)).steps
    assert (step.deserved, step.reasons) == ("major", ("who is placed on it must consent to the experiment lane",))


def test_the_lane_back_is_no_break() -> None:
    (step,) = compare(change(("lane: baseline", "lane: experiment"), to=EXPERIMENT), SMALL).steps
    assert (step.deserved, step.reasons) == ("minor", (RENDERED,))


# --- whose fault a worse verdict is

TIGHT = edit(SMALL, PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 3\n  surge: 0"))  # all sixteen devices
SHORT = edit(SMALL, PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 4\n  surge: 0"))


def test_a_reservation_that_leaves_too_few_is_the_pools_own_doing() -> None:
    (step,) = compare(TIGHT, change(RESERVED, to=TIGHT)).steps
    assert (step.deserved, step.reasons) == (
        "major",
        ("chat/chat-70b was always-fits 3/3 and is order-dependent 1-3/3",),
    )


def test_a_placement_that_asks_for_more_is_not() -> None:
    (step,) = compare(TIGHT, change(OWNER, to=SHORT)).steps
    assert (step.deserved, step.reasons) == ("patch", (LABELS,))


def test_an_inventory_that_loses_devices_is_not() -> None:
    bare = {**TIGHT, "inventory/east.yaml": TIGHT["inventory/east.yaml"].replace(b"Hopper", b"Ampere")}
    (step,) = compare(TIGHT, change(OWNER, to=bare)).steps
    assert (step.deserved, step.reasons) == ("patch", (LABELS,))


def test_a_class_that_selects_the_same_devices_is_not() -> None:
    """It lets more through, and there is no more of it: what went is gone for another reason."""
    bare = {**TIGHT, "inventory/east.yaml": TIGHT["inventory/east.yaml"].replace(b"Hopper", b"Ampere")}
    (step,) = compare(TIGHT, change(("[Hopper]", "[Hopper, Blackwell]"), to=bare)).steps
    assert (step.deserved, step.reasons) == ("minor", (RENDERED,))


def test_another_stack_is_not() -> None:
    """What the platform renders for the other version of Kubernetes is the stack's."""
    other = edit(SMALL, STACK, ("version: 1.36.x", "version: 1.35.x"))
    (step,) = compare(SMALL, change(OWNER, to=other)).steps
    assert (step.deserved, step.reasons) == ("patch", (LABELS,))


def test_another_value_of_a_tier_is_not() -> None:
    tiers = ("spec:\n", "spec:\n  tiers: {batch: {priority: -5}}\n")
    (step,) = compare(SMALL, change(OWNER, to=edit(SMALL, PROJECT, tiers))).steps
    assert (step.deserved, step.reasons) == ("patch", (LABELS,))


SECOND = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: second, version: 1.0.0}
spec:
  clusterName: east
  lane: baseline
  owner: team-second
  deviceClasses:
    - {name: second-class, tier: interactive, driver: gpu.nvidia.com, attributes: {type: [gpu], brand: [Other]}}
  namespaces: [{name: chat}]
"""


def test_a_pool_that_takes_devices_from_the_workloads_of_another() -> None:
    """Both pools' classes select the same devices: a reservation on one is felt on the other."""
    two = {**TIGHT, "specs/second.yaml": SECOND.replace(b", brand: [Other]", b"")}
    text = (
        two["specs/second.yaml"] + b"  reservations: [{deviceClassName: second-class, count: 4, reason: a, owner: b}]\n"
    )
    (step,) = compare(two, {**two, "specs/second.yaml": text}).steps
    assert (step.name, step.deserved, step.reasons) == (
        "second",
        "major",
        ("chat/chat-70b was always-fits 3/3 and is order-dependent 1-3/3",),
    )


def test_a_pool_whose_change_nobody_elsewhere_needs_to_suffer_from() -> None:
    """Of the two pools that change, the one that the workloads are on explains why they fit worse."""
    two = {**TIGHT, "specs/second.yaml": SECOND}
    after = {**change(RESERVED, to=two), "specs/second.yaml": SECOND.replace(b"[Other]", b"[Other, Another]")}
    steps = {one.name: one.deserved for one in compare(two, after).steps}
    assert steps == {"h100-full": "major", "second": "minor"}


# --- findings

FINDINGS = {
    "too-small": (
        change(("min: 79Gi", "min: 79.5Gi"), VERSION),
        "specs/pool.yaml:6:12: Pool h100-full: 1.0.0 -> 1.0.1 is a patch step, and the change deserves a major one: "
        "class interactive-80g: memory must be at least 81408Mi, before 79Gi  [step-too-small]\n"
        "  at   metadata.version\n"
        "  why  who pins or reads versions takes a small step for one that can't hurt (Semantic Versioning 2.0.0, as "
        "poolwright diff applies it)\n"
        "  fix  write version: 2.0.0\n",
    ),
    "none-at-all": (
        change(OWNER),
        "specs/pool.yaml:6:12: Pool h100-full: its version is still 1.0.0, and the change deserves a patch one: "
        "nothing that is rendered differs outside labels and annotations  [step-too-small]\n"
        "  at   metadata.version\n"
        "  why  who pins or reads versions takes a small step for one that can't hurt (Semantic Versioning 2.0.0, as "
        "poolwright diff applies it)\n"
        "  fix  write version: 1.0.1\n",
    ),
    "back": (
        change(OWNER, ("version: 1.0.0", "version: 0.9.0")),
        "specs/pool.yaml:6:12: Pool h100-full: 1.0.0 -> 0.9.0 is a step back, and the change deserves a patch one: "
        "nothing that is rendered differs outside labels and annotations  [step-too-small]\n"
        "  at   metadata.version\n"
        "  why  who pins or reads versions takes a small step for one that can't hurt (Semantic Versioning 2.0.0, as "
        "poolwright diff applies it)\n"
        "  fix  write version: 1.0.1\n",
    ),
    "too-large-is-a-note": (
        change(OWNER, ("version: 1.0.0", "version: 2.0.0")),
        "specs/pool.yaml:6:12: note: Pool h100-full: 1.0.0 -> 2.0.0 is a major step, and the change deserves a patch "
        "one: nothing that is rendered differs outside labels and annotations  [step-too-large]\n"
        "  at   metadata.version\n"
        "  why  who reads it will look for a break that isn't there (Semantic Versioning 2.0.0, as poolwright diff "
        "applies it)\n"
        "  fix  1.0.1 would say it; a larger step is allowed\n",
    ),
    "for-nothing": (
        change(VERSION),
        "specs/pool.yaml:6:12: note: Pool h100-full: 1.0.0 -> 1.0.1 is a patch step, and the change deserves none  "
        "[step-too-large]\n"
        "  at   metadata.version\n"
        "  why  who reads it will look for a break that isn't there (Semantic Versioning 2.0.0, as poolwright diff "
        "applies it)\n"
        "  fix  1.0.0 would say it; a larger step is allowed\n",
    ),
    "just-right": (change(OWNER, VERSION), ""),
}


@pytest.mark.parametrize("case", FINDINGS)
def test_what_is_said_of_a_step(case: str) -> None:
    after, text = FINDINGS[case]
    assert say_findings(compare(SMALL, after)) == text
