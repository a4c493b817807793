"""Reports of fleets, made by hand: what people are shown is judged by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from change_reports import CLASS_TIGHTENED
from poolwright.packet.index import PacketWaiver
from poolwright.packet.ledger import FeatureState, Known
from poolwright.pages.document import (
    KIND,
    Assumptions,
    ClaimStep,
    DeviceColumns,
    DeviceSource,
    FleetCluster,
    FleetLoss,
    FleetLossChange,
    FleetNode,
    FleetPlace,
    FleetReport,
    FleetSide,
    FleetUnit,
    LoadThresholds,
    PriceBar,
    PriceLine,
    Range,
    RouterStep,
    SlotColumns,
    StackPins,
    UnitLineage,
    UnitWitness,
    WitnessStep,
)
from poolwright.plan.verdict import Word
from poolwright.receipts.document import Model, Pin
from poolwright.specs.model import API_VERSION

GIB = 1 << 30
NONE = -1
DRIVER = "gpu.nvidia.com"
ZONES = ("zone-a", "zone-b")
FAMILIES = ("NVIDIA A100-SXM4-80GB (mig)", "NVIDIA H100 80GB HBM3 (gpu)")
PROFILES = ("1g.10gb", "2g.20gb", "3g.40gb")


@dataclass
class Row:
    """A device. claims: (unit, replica) of the slots that have it."""

    name: str
    node: int
    piece: int
    mode: int = 0
    profile: int = NONE
    family: int = 1
    claims: tuple[tuple[int, int], ...] = ()
    loss_class: int = NONE


@dataclass
class Made:
    """A cluster as it is put together."""

    name: str
    nodes: list[FleetNode] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def add_node(self, name: str, zone: int, loss_class: int = NONE, *, is_planned: bool = False) -> int:
        self.nodes.append(FleetNode(name=name, zone=zone, loss_class=loss_class, is_planned=is_planned))
        return len(self.nodes) - 1

    def add_gpus(self, node: int, claims: Sequence[tuple[tuple[int, int], ...]], **parts: Any) -> None:
        """One whole GPU for each entry."""
        for number, one in enumerate(claims):
            self.rows.append(Row(f"gpu-{number}", node, self.next_piece(), claims=one, **parts))

    def next_piece(self) -> int:
        return max((one.piece for one in self.rows), default=-1) + 1

    def build(self, losses: Sequence[FleetLoss], *, judged: bool = True, shortfall: int = 0) -> FleetCluster:
        slots: dict[tuple[int, int], list[int]] = {}
        for number, row in enumerate(self.rows):
            for claim in row.claims:
                slots.setdefault(claim, []).append(number)
        claims = sorted(slots)
        places = {claim: number for number, claim in enumerate(claims)}
        firsts = [min((places[one] for one in row.claims), default=NONE) for row in self.rows]
        return FleetCluster(
            name=self.name,
            kubernetes="1.36",
            scenario="fresh",
            demanded=len(claims) + shortfall,
            shortfall=Range(least=shortfall, most=shortfall),
            contests=("9 claims of chat-70b and batch-8b compete for 8 devices",) if shortfall else (),
            rollouts=("chat-70b completes in every order",),
            zones=_places(ZONES, 0, judged),
            families=_places(FAMILIES, 1, judged),
            nodes=tuple(self.nodes),
            sources=(DeviceSource(driver=DRIVER, pool=f"{self.name}-pool"),),
            profiles=PROFILES,
            devices=DeviceColumns(
                name=tuple(one.name for one in self.rows),
                node=tuple(one.node for one in self.rows),
                source=(0,) * len(self.rows),
                piece=tuple(one.piece for one in self.rows),
                mode=tuple(one.mode for one in self.rows),
                profile=tuple(one.profile for one in self.rows),
                family=tuple(one.family for one in self.rows),
                unit=tuple(one.claims[0][0] if one.claims else NONE for one in self.rows),
                slot=tuple(firsts),
                loss_class=tuple(one.loss_class for one in self.rows),
            ),
            slots=SlotColumns(
                receipt=tuple(f"slot:{number:064x}" for number in range(len(claims))),
                unit=tuple(unit for unit, _ in claims),
                ordinal=tuple(replica for _, replica in claims),
                pod=(0,) * len(claims),
                claim=(0,) * len(claims),
                node=tuple(self.rows[slots[one][0]].node for one in claims),
                devices=tuple(tuple(slots[one]) for one in claims),
                note=(NONE,) * len(claims),
            ),
            notes=(),
            losses_judged=judged,
            loss_classes=tuple(losses) if judged else (),
            assumptions=Assumptions(
                modelled=("Kubernetes 1.36 and its gates", "taints of nodes and devices"),
                discharged=("CPU: at most 96 of 128 are asked for on any node",),
                assumed=("nothing else claims these devices",),
            ),
        )


def _places(names: Sequence[str], first: int, judged: bool) -> tuple[FleetPlace, ...]:
    return tuple(FleetPlace(name=one, loss_class=first if judged else NONE) for one in names)


def make_unit(cluster: str, name: str, word: Word = "always-fits", counts: str = "2/2", **parts: Any) -> FleetUnit:
    """A placement that fits, but for these parts."""
    values: dict[str, Any] = {
        "cluster": cluster,
        "workload": f"serving/{name}",
        "kind": "placement",
        "name": name,
        "namespace": "serving",
        "envelope": f"{name}@1.2.0",
        "model": Model(name=f"acme/{name}", digest="sha256:" + "5e" * 32),
        "verdict": word,
        "counts": counts,
        "replicas": 2,
        "minimum": 1,
        "always": Range(least=2, most=2),
        "at_best": Range(least=2, most=2),
        "reasons": (),
        "qualifiers": (),
        "witness": None,
        "mends": (),
        "headroom": 1,
        "lands_on": (FAMILIES[1],),
        "origin": f"specs/placements/{cluster}.yaml:12",
        "prices": (make_price(),),
        "lineage": UnitLineage(
            router=RouterStep(
                pool=f"{name}-pool",
                hostnames=(f"{name}.models.example.com",),
                route=f"HTTPRoute/{name}",
                backend=f"InferencePool/{name}",
            ),
            services=(f"{name}-http",),
            workload=f"Deployment/{name}",
            claims=(ClaimStep(name="gpu", object=f"ResourceClaimTemplate/{name}-gpu", classes=("h100-full",)),),
        ),
    }
    return FleetUnit(**values | parts)


def make_price(**parts: Any) -> PriceBar:
    values: dict[str, Any] = {
        "class_name": "h100-full",
        "device": "NVIDIA H100 80GB HBM3",
        "admission": "admitted",
        "reason": "",
        "need_bytes": 20 * GIB,
        "budget_bytes": 37 * GIB,
        "memory_bytes": 80 * GIB,
        "max_concurrency": 29,
        "is_extrapolated": False,
        "lines": (
            PriceLine(name="weights", bytes=35 * GIB, source="the model's files"),
            PriceLine(name="activation", bytes=3 * GIB, source="measured"),
        ),
        "thresholds": LoadThresholds(
            concurrency=16, most_concurrency=29, context_tokens=16384, most_context_tokens=30208
        ),
        "mends": "",
        "other_classes": (),
    }
    return PriceBar(**values | parts)


REFUSED = make_price(
    admission="refused",
    reason="32 x 16,384 tokens need 80.00 GiB of KV cache, and there is room for 37.28",
    need_bytes=80 * GIB,
    budget_bytes=int(37.28 * GIB),
    max_concurrency=14,
    thresholds=None,
    mends="at most 14 requests at once, or 7,632 tokens a request",
    other_classes=("h200-full",),
)


def make_loss(thing: Any, members: int, lost: int, *changes: FleetLossChange, sentence: str) -> FleetLoss:
    return FleetLoss(
        id=f"{thing}-{members}-{lost}",
        thing=thing,
        members=members,
        lost=lost,
        unsatisfied=tuple(one.unit for one in changes if one.verdict == "unsatisfied"),
        changes=changes,
        shortfall="2" if changes else "0",
        sentence=sentence,
    )


def _loses(unit: int, verdict: Word, counts: str) -> FleetLossChange:
    return FleetLossChange(
        unit=unit, verdict=verdict, counts=counts, sentence=f"at most {counts} replicas find devices, in every order"
    )


LOSSES = (
    make_loss("zone", 2, 16, _loses(0, "unsatisfied", "0-1/2"), _loses(1, "unsatisfied", "0/2"),
              sentence="Without it chat-70b and embed-1b can't have all their replicas."),
    make_loss("family", 2, 24, _loses(0, "unsatisfied", "0/2"), sentence="Without it chat-70b has no device anywhere."),
    make_loss("node", 2, 8, _loses(0, "unsatisfied", "1/2"), sentence="One replica of chat-70b finds no devices."),
    make_loss("node", 2, 7, sentence="Every verdict stays as it is."),
    make_loss("device", 8, 1, _loses(2, "order-dependent", "1-2/2"), sentence="batch-8b depends on the order."),
)  # fmt: skip


def make_east(*, judged: bool = True) -> FleetCluster:
    """Whole GPUs, partitions of two kinds, a shared device, a planned node, devices on no node."""
    made = Made("east")
    a0, a1 = made.add_node("h100-a-0", 0, 2), made.add_node("h100-a-1", 0, 2)
    mig, mixed = made.add_node("a100-mig-b-0", 1, 3), made.add_node("a100-mixed-b-1", 1, 3)
    made.add_node("h100-planned-2", NONE, is_planned=True)
    made.add_gpus(a0, [((0, 0),)] * 4 + [((2, 0),), ((2, 0), (1, 0)), (), ()], loss_class=4)
    made.rows[5].mode = 2
    made.add_gpus(a1, [((0, 1),)] * 4 + [()] * 4, loss_class=4)
    for gpu in range(2):  # cut once for all: 3 + 2 + 2 slices
        piece = made.next_piece()
        for number, profile in enumerate((2, 1, 1)):
            claims = ((1, gpu),) if number == 0 else ()
            made.rows.append(Row(f"gpu-{gpu}-mig-{number}", mig, piece, 1, profile, 0, claims))
    piece = made.next_piece()  # cut as claims ask for it: the whole GPU and every partition are published
    made.rows.append(Row("gpu-0", mixed, piece, 0, NONE, 0))
    for number in range(7):
        made.rows.append(Row(f"gpu-0-mig-1g-{number}", mixed, piece, 1, 0, 0, ((3, 0),) if number == 1 else ()))
    made.rows += [Row(f"gpu-0-mig-3g-{number}", mixed, piece, 1, 2, 0) for number in range(2)]
    made.rows.append(Row("fabric-nic", NONE, made.next_piece(), family=NONE))
    return made.build(LOSSES, judged=judged, shortfall=1)


def make_west(*, judged: bool = True) -> FleetCluster:
    made = Made("west")
    node = made.add_node("h100-w-0", 0)
    made.add_gpus(node, [((4, 0),), ((4, 1),), (), ()])
    return replace_cluster(made.build((), judged=judged), zones=(FleetPlace(name="zone-w", loss_class=NONE),),
                           families=_places(FAMILIES, NONE, False))  # fmt: skip


def replace_cluster(cluster: FleetCluster, **parts: Any) -> FleetCluster:
    return msgspec.structs.replace(cluster, **parts)


WITNESS = UnitWitness(
    left_out=1,
    replays="now",
    sentence="batch-8b 0-5 on h100-a-0, then chat-70b 0 on h100-a-1: one replica of chat-70b stays out",
    steps=(
        WitnessStep(unit=2, replicas="0-5", node="h100-a-0", devices=6),
        WitnessStep(unit=0, replicas="0", node="h100-a-1", devices=4),
    ),
    steps_left=0,
)
UNITS = (
    make_unit("east", "chat-70b", "order-dependent", "1-2/2", witness=WITNESS, always=Range(least=1, most=1),
              reasons=("batch-8b may take devices of both nodes before chat-70b starts",), headroom=None,
              mends=("mended by one more node like h100-a-0",)),
    make_unit("east", "embed-1b", lands_on=(FAMILIES[0],), qualifiers=("h100-planned-2 isn't there yet",)),
    make_unit("east", "batch-8b", prices=(make_price(), REFUSED)),
    make_unit("east", "guard-1b7", "unsatisfied", "1/2", reasons=("no third partition of 1g.10gb is left",),
              prices=(REFUSED,), mends=("not mended by another zone",), headroom=None),
    make_unit("west", "chat-70b", headroom=0),
    make_unit("west", "reserved", kind="reservation", envelope=None, model=None, prices=(), namespace="",
              workload="reserved", lineage=UnitLineage(router=None, services=(), workload="", claims=())),
)  # fmt: skip
SAFE_UNITS = tuple(
    msgspec.structs.replace(one, verdict="always-fits", counts="2/2", witness=None, reasons=(), mends=(), headroom=1)
    for one in UNITS
)


def _known(value: Any) -> Known:
    return Known(value=value, state="known", sources=("release notes",), others=(), settled_by=None)


FEATURE = FeatureState(
    component="Kubernetes",
    feature="DRAPartitionableDevices",
    stack="prod@3",
    clusters=("east",),
    pools=("a100-mig",),
    used_by=("pool a100-mig publishes partitions",),
    version="1.36.2",
    gpu_driver=None,
    kubernetes="1.36",
    kubernetes_gates=(),
    stage=_known("beta"),
    default=_known(True),
    conflicts_with=_known(None),
    needs=_known(None),
    test_cluster_name="lab",
    promotion_owner="platform",
    promotion_criteria="two weeks without a lost claim",
    rollback="turn the gate off",
    evidence=(),
)
WAIVER = PacketWaiver(
    rule="rehearsal-missing",
    file="specs/stacks/prod.yaml",
    what="no rehearsal of prod@3",
    reason="the lab is being moved",
    owner="platform",
    expires="2027-01-31",
)


def make_report(**parts: Any) -> FleetReport:
    """The small fleet, of a release, but for these parts."""
    values: dict[str, Any] = {
        "api_version": API_VERSION,
        "kind": KIND,
        "tool": "0.1.0",
        "project": "example",
        "subject": "release",
        "title": "release 2026.12",
        "as_of": "2026-11-30",
        "before": None,
        "after": FleetSide(name="2026.12", commit="4a72" * 10, clusters=(make_east(), make_west()), units=UNITS),
        "changes": CLASS_TIGHTENED,
        "pins": (
            StackPins(
                stack="prod@3",
                clusters=("east", "west"),
                pins=(
                    Pin(component="kubernetes", version="1.36.2", digest=None),
                    Pin(component="gpuDriver", version="580.173.02", digest=None),
                ),
            ),
        ),
        "ledger": (FEATURE,),
        "waivers": (WAIVER,),
        "findings": CLASS_TIGHTENED.findings,
    }
    return FleetReport(**values | parts)


def make_safe() -> FleetReport:
    side = FleetSide(
        name="plan", commit=None, clusters=(replace_cluster(make_west(), name="west"),), units=SAFE_UNITS[4:]
    )
    west = tuple(msgspec.structs.replace(one, prices=()) for one in side.units)
    moved = replace_cluster(
        side.clusters[0],
        devices=msgspec.structs.replace(side.clusters[0].devices, unit=(0, 0, NONE, NONE)),
        slots=msgspec.structs.replace(side.clusters[0].slots, unit=(0, 0)),
    )
    side = msgspec.structs.replace(side, units=west, clusters=(moved,))
    return make_report(subject="plan", title="plan of example", after=side, changes=None, findings=(), waivers=())


def make_diff() -> FleetReport:
    """Before and after: losses weren't judged, and two verdicts got worse."""
    sides = [
        FleetSide(name=name, commit=None, clusters=(make_east(judged=False), make_west(judged=False)), units=units)
        for name, units in (("main", SAFE_UNITS), ("retire-h100", UNITS))
    ]
    before = tuple(replace_cluster(one, shortfall=Range(least=0, most=0), contests=()) for one in sides[0].clusters)
    sides[0] = msgspec.structs.replace(sides[0], clusters=before)
    return make_report(subject="diff", title="main to retire-h100", before=sides[0], after=sides[1])


def make_large(devices: int = 10_000, envelopes: int = 24) -> FleetReport:
    """Nodes of eight whole GPUs in four zones, and so many devices."""
    made = Made("large")
    nodes = devices // 8
    for number in range(nodes):
        node = made.add_node(f"gpu-h100-{'abcd'[number * 4 // nodes]}-{number:04}", number * 4 // nodes, 2 + number % 2)
        unit = number * 60 // nodes
        made.rows.extend(
            Row(f"gpu-{gpu}", node, number * 8 + gpu, claims=() if gpu > 6 else ((unit, number),), loss_class=4)
            for gpu in range(8)
        )
    units = tuple(
        make_unit("large", f"model-{number:02}", envelope=f"model-{number % envelopes:02}@1.0.0")
        for number in range(60)
    )
    units = (msgspec.structs.replace(UNITS[0], cluster="large", envelope="model-00@1.0.0"), *units[1:])
    cluster = replace_cluster(
        made.build(LOSSES),
        zones=tuple(FleetPlace(name=f"zone-{one}", loss_class=0) for one in "abcd"),
    )
    return make_report(after=FleetSide(name="2026.12", commit=None, clusters=(cluster,), units=units))


def make_hostile(report: FleetReport, attack: Callable[[str], str]) -> FleetReport:
    """The same report with an attack in place of every text that isn't one of a few known words."""
    plain = msgspec.to_builtins(report)
    known = set(_list_words(FleetReport))

    def hurt(value: Any, path: str) -> Any:
        if isinstance(value, str):
            return value if value in known or path.endswith(("asOf", "apiVersion")) else attack(value)
        if isinstance(value, dict):
            return {key: hurt(one, f"{path}.{key}") for key, one in value.items()}
        return [hurt(one, path) for one in value] if isinstance(value, list | tuple) else value

    return msgspec.convert(hurt(plain, ""), FleetReport)


def _list_words(document: Any) -> Iterator[str]:
    """Every word that a schema lists."""
    found = msgspec.json.schema(document)

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for key, one in value.items():
                if key == "enum":
                    yield from (word for word in one if isinstance(word, str))
                elif key == "const" and isinstance(one, str):
                    yield one
                else:
                    yield from walk(one)
        elif isinstance(value, list):
            for one in value:
                yield from walk(one)

    return walk(found)
