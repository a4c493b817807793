"""Reports of changes, made by hand: what people are shown is judged by them."""

from __future__ import annotations

from typing import Any

import msgspec

from poolwright.changes.report import (
    KIND,
    Answer,
    ClassChange,
    CommitAnswer,
    Direction,
    FieldChange,
    FindingRow,
    Hardware,
    Inventory,
    Move,
    ObjectChange,
    PriceChange,
    Report,
    ReportScenario,
    Restart,
    Revision,
    RolloutRisk,
    SpecStep,
    Stranded,
    Taint,
    ValueChange,
    WaiverRow,
    WorkloadChange,
)
from poolwright.plan.verdict import Word
from poolwright.specs.model import API_VERSION

BASE = Revision(name="main", commit="4a7291f0c1d2e3f405162738495a6b7c8d9e0f12")
HEAD = Revision(name="retire-h100", commit="d0d9eee5b4a39281706f5e4d3c2b1a0918273645")
EAST = "9f2c" * 16
WEST = "01ab" * 16
ASSUMPTIONS = (
    "every node that the inventory has is there, and no other",
    "nothing else claims devices of these pools than what the specs reserve",
    "the driver publishes devices in the order of the inventory until it restarts",
)


def build_report(**parts: Any) -> Report:
    """A report of nothing at all, but for these parts."""
    names = [field.name for field in msgspec.structs.fields(Report) if field.required]
    nothing: dict[str, Any] = dict.fromkeys(names, ())
    nothing |= {"tool": "0.1.0", "project": "example", "as_of": "2026-11-30", "base": BASE, "head": HEAD}
    nothing |= {"api_version": API_VERSION, "kind": KIND, "clusters": ("east", "west"), "assumptions": ASSUMPTIONS}
    nothing["inventories"] = (
        Inventory(cluster="east", before=EAST, after=EAST),
        Inventory(cluster="west", before=WEST, after=WEST),
    )
    return Report(**nothing | parts)


def workload(
    name: str,
    before: tuple[Word, str] | None,
    after: tuple[Word, str] | None,
    change: Direction,
    *reasons: str,
    cluster: str = "east",
    scenario: ReportScenario = "fresh",
) -> WorkloadChange:
    """A workload with its two verdicts."""
    old, new = (answer and Answer(verdict=answer[0], counts=answer[1]) for answer in (before, after))
    return WorkloadChange(
        cluster=cluster, name=name, scenario=scenario, before=old, after=new, change=change, reasons=reasons
    )


def fits(name: str, replicas: int, cluster: str = "east") -> WorkloadChange:
    """A workload that fits before and after."""
    answer: tuple[Word, str] = ("always-fits", f"{replicas}/{replicas}")
    return workload(name, answer, answer, "same", cluster=cluster)


OTHERS = (
    fits("serving/llama-8b", 4),
    fits("serving/qwen-32b", 2),
    fits("serving/whisper", 3),
    fits("batch/embeddings", 8),
    fits("serving/llama-8b", 4, "west"),
)

NOTHING = build_report(
    head=Revision(name="reformat-specs", commit=HEAD.commit),
    workloads=(*OTHERS, fits("serving/llama-70b", 6)),
)

FAMILY_REMOVED = build_report(
    findings=(
        FindingRow(
            code="class-without-devices",
            severity="error",
            file="specs/pools/h100.yaml",
            line=14,
            column=7,
            field="spec.classes[0].select",
            what='class "h100-full" selects no device of cluster "east" any more',
            why="three placements name it, and a claim without devices waits for ever",
            rule="k8s.io/api resource/v1",
            fix="keep two nodes of the family until the placements have moved, or name h200-full in them first",
            waived=None,
        ),
        FindingRow(
            code="alternative-last",
            severity="warning",
            file="specs/placements/mixtral.yaml",
            line=22,
            column=9,
            field="spec.classes",
            what="placement mixtral-8x22b is left with one alternative",
            why="it had h100-full and h200-full, and a single lost node now decides whether it fits",
            rule="",
            fix="name a second class, or lower replicas from 4 to 3",
            waived=WaiverRow(
                kind="Placement",
                name="east/mixtral-8x22b",
                file="specs/placements/mixtral.yaml",
                path=None,
                reason="it moves to the new family before the old one goes",
                owner="team-mixtral",
                expires="2027-01-31",
            ),
        ),
    ),
    workloads=(
        workload(
            "serving/llama-70b",
            ("always-fits", "6/6"),
            ("unsatisfied", "0/6"),
            "worse",
            'every device of class "h100-full" is gone: 16 devices on 2 nodes',
            "no other class is named by the claim",
        ),
        workload(
            "serving/mixtral-8x22b",
            ("always-fits", "4/4"),
            ("order-dependent", "3-4/4"),
            "worse",
            "8 devices of h200-full are left for claims of 2 workloads that ask for 10 at most",
            "if serving/qwen-32b starts first, the fourth replica finds 1 free device and needs 2",
        ),
        *OTHERS,
    ),
    classes=(
        ClassChange(
            cluster="east",
            name="h100-full",
            change="shrank",
            before=16,
            after=0,
            lost=(Hardware(product="NVIDIA H100 80GB HBM3", kind="gpu", count=16),),
            gained=(),
            clauses=(),
            users=("serving/llama-70b", "serving/mixtral-8x22b"),
        ),
    ),
    stranded=(
        Stranded(
            cluster="east",
            workload="serving/llama-70b",
            scenario="fresh",
            replicas=6,
            stuck=6,
            reasons=("no device of class h100-full is left",),
        ),
    ),
    steps=(
        SpecStep(
            kind="Pool",
            name="h100-pool",
            file="specs/pools/h100.yaml",
            before="2.3.0",
            after="2.3.1",
            taken="patch",
            deserved="major",
            reasons=("the verdict of serving/llama-70b on east gets worse", "class h100-full loses all its devices"),
        ),
    ),
    objects=(
        ObjectChange(
            cluster="east",
            unit="platform",
            change="changed",
            api_version="v1",
            kind="ResourceQuota",
            namespace="serving",
            name="devices",
            fields=(
                FieldChange(
                    path='spec.hard["h100-full.deviceclass.resource.k8s.io/devices"]',
                    before='"16"',
                    after='"0"',
                    change="changed",
                    is_hidden=False,
                ),
            ),
        ),
    ),
)

CLASS_TIGHTENED = build_report(
    head=Revision(name="only-nvlink", commit=HEAD.commit),
    workloads=(
        workload(
            "serving/llama-70b",
            ("always-fits", "6/6"),
            ("order-dependent", "4-6/6"),
            "worse",
            "12 devices are left of 16, and batch/embeddings may take 4 of them first",
        ),
        workload(
            "serving/llama-70b",
            ("order-dependent", "5-6/6"),
            ("order-dependent", "4-6/6"),
            "worse",
            "as captured, batch/embeddings holds 2 of the devices that are left",
            scenario="live",
        ),
        *OTHERS,
    ),
    classes=(
        ClassChange(
            cluster="east",
            name="h100-full",
            change="shrank",
            before=16,
            after=12,
            lost=(Hardware(product="NVIDIA H100 PCIe", kind="gpu", count=4),),
            gained=(),
            clauses=('+ device.attributes["gpu.nvidia.com"].fabric == "nvlink"',),
            users=("serving/llama-70b", "batch/embeddings"),
        ),
    ),
    moves=(
        Move(
            cluster="east",
            workload="batch/embeddings",
            before=("NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3"),
            after=("NVIDIA H100 80GB HBM3",),
        ),
    ),
    rollouts=(
        RolloutRisk(
            cluster="east",
            workload="serving/llama-70b",
            outcome="can-stick",
            why="a surge of 1 needs 2 free devices, and in some orders none is free",
            fixes=("set surge to 0 and unavailable to 1", "leave 2 more devices in the pool"),
        ),
    ),
    taints=(
        Taint(
            cluster="east",
            target="node h100-a-0",
            taint="example.com/retiring=true:NoExecute",
            devices=8,
            evicts=True,
            workloads=("serving/llama-70b", "batch/embeddings"),
        ),
    ),
    restarts=(
        Restart(
            cluster="east",
            unit="llama-70b",
            kind="Deployment",
            name="serving/llama-70b",
            replicas=6,
            fields=("spec.template.spec.resourceClaims[name=gpus].resourceClaimTemplateName",),
        ),
    ),
    prices=(
        PriceChange(
            cluster="east",
            unit="llama-70b",
            class_name="h100-full",
            before="admitted, 71.4 GiB of 79.6 GiB",
            after="tooClose, 78.9 GiB of 79.6 GiB",
            is_worse=True,
        ),
    ),
    pins=(
        ValueChange(path="stacks.east.driver.version", before="25.8.0", after="25.12.1", note="the stack asks for it"),
    ),
    gates=(
        ValueChange(
            path="stacks.east.kubernetes.DRADeviceTaints", before=None, after="true", note="beta since Kubernetes 1.36"
        ),
    ),
    ledger=(ValueChange(path="DRADeviceTaints.decision", before="wait", after="adopt", note=""),),
    lanes=(ValueChange(path="pools.h100-pool.lane", before="baseline", after="experiment", note=""),),
    waivers=(
        ValueChange(
            path="pools.h100-pool.headroom-short",
            before=None,
            after="until 2027-01-31 by platform: the spare node arrives in January",
            note="",
        ),
    ),
    steps=(
        SpecStep(
            kind="Envelope",
            name="llama-70b",
            file="specs/envelopes/llama-70b.yaml",
            before="1.4.0",
            after="2.0.0",
            taken="major",
            deserved="major",
            reasons=("the claim asks for other devices",),
        ),
    ),
    objects=(
        ObjectChange(
            cluster="east",
            unit="llama-70b",
            change="added",
            api_version="resource.k8s.io/v1",
            kind="ResourceClaimTemplate",
            namespace="serving",
            name="llama-70b-gpus-1f0c9a77de",
            fields=(),
        ),
        ObjectChange(
            cluster="east",
            unit="llama-70b",
            change="changed",
            api_version="apps/v1",
            kind="Deployment",
            namespace="serving",
            name="llama-70b",
            fields=(
                FieldChange(
                    path="spec.template.spec.resourceClaims[name=gpus].resourceClaimTemplateName",
                    before='"llama-70b-gpus-02b7fe4410"',
                    after='"llama-70b-gpus-1f0c9a77de"',
                    change="changed",
                    is_hidden=False,
                ),
                FieldChange(
                    path="spec.template.spec.containers[name=engine].env[name=HF_TOKEN].value",
                    before=None,
                    after=None,
                    change="changed",
                    is_hidden=True,
                ),
            ),
        ),
        ObjectChange(
            cluster="east",
            unit="llama-70b",
            change="removed",
            api_version="resource.k8s.io/v1",
            kind="ResourceClaimTemplate",
            namespace="serving",
            name="llama-70b-gpus-02b7fe4410",
            fields=(),
        ),
    ),
)

UNSAFE_MIDDLE = build_report(
    head=Revision(name="rename-class", commit="b830a9967f5e4d3c2b1a09182736455463728190"),
    workloads=(*OTHERS, fits("serving/llama-70b", 6)),
    classes=(
        ClassChange(
            cluster="east",
            name="h100-full",
            change="gone",
            before=16,
            after=None,
            lost=(Hardware(product="NVIDIA H100 80GB HBM3", kind="gpu", count=16),),
            gained=(),
            clauses=(),
            users=("serving/llama-70b",),
        ),
        ClassChange(
            cluster="east",
            name="h100-whole",
            change="new",
            before=None,
            after=16,
            lost=(),
            gained=(Hardware(product="NVIDIA H100 80GB HBM3", kind="gpu", count=16),),
            clauses=('+ device.attributes["gpu.nvidia.com"].productName.startsWith("NVIDIA H100")',),
            users=("serving/llama-70b",),
        ),
    ),
    commits=(
        CommitAnswer(
            commit="2403757aa0b1c2d3e4f5061728394a5b6c7d8e9f",
            subject="pools: h100-full is called h100-whole",
            is_safe=False,
            problems=(
                'placement llama-70b on "east" names class "h100-full", and there is none: 6 replicas would wait',
            ),
        ),
        CommitAnswer(
            commit="b830a9967f5e4d3c2b1a09182736455463728190",
            subject="placements: follow the new name (#12)",
            is_safe=True,
            problems=(),
        ),
    ),
)

CHANGE_REPORTS = {
    "nothing-changed": NOTHING,
    "family-removed": FAMILY_REMOVED,
    "class-tightened": CLASS_TIGHTENED,
    "unsafe-middle": UNSAFE_MIDDLE,
}


def build_large(workloads: int) -> Report:
    """A change that reaches every workload of a large fleet, each with reasons and objects."""
    clusters = tuple(f"cluster-{number:02}" for number in range(8))
    rows, objects, restarts = [], [], []
    for number in range(workloads):
        cluster, name = clusters[number % 8], f"model-{number:03}"
        after: tuple[Word, str] = ("unsatisfied", "2/4") if number % 3 else ("order-dependent", "3-4/4")
        reason = f"replica 3 of {name} finds no device of class h100-full, which {number} others ask for"
        rows.append(
            workload(f"serving/{name}", ("always-fits", "4/4"), after, "worse", reason, "see above", cluster=cluster)
        )
        changed = FieldChange(
            path="spec.template.spec.containers[name=engine].image",
            before=f'"registry.example.com/engine:{number}"',
            after=f'"registry.example.com/engine:{number + 1}"',
            change="changed",
            is_hidden=False,
        )
        kinds: tuple[tuple[str, tuple[FieldChange, ...]], ...] = (("Deployment", (changed,)), ("Service", ()))
        objects += [
            ObjectChange(
                cluster=cluster,
                unit=name,
                change="changed" if fields else "added",
                api_version="apps/v1",
                kind=kind,
                namespace="serving",
                name=name,
                fields=fields,
            )
            for kind, fields in kinds
        ]
        restarts.append(
            Restart(
                cluster=cluster,
                unit=name,
                kind="Deployment",
                name=f"serving/{name}",
                replicas=4,
                fields=("spec.template.spec.containers[name=engine].image",),
            )
        )
    return build_report(clusters=clusters, workloads=tuple(rows), objects=tuple(objects), restarts=tuple(restarts))
