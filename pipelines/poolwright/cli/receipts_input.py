"""What `poolwright receipts` reads: a project's plan, objects of a cluster, a Snapshot, or receipts made before."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import MINORS, Features, build_features
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.parse_objects import parse_objects
from poolwright.allocation.server_rules import drop_refused
from poolwright.allocation.taint_rules import apply_rules
from poolwright.cli.object_files import build_empty
from poolwright.cli.plan_case import LoadedForPlan, PlanCase, check_nodes
from poolwright.files.facts import read_facts
from poolwright.plan.engine import judge
from poolwright.receipts.document import MAX_RECEIPTS_BYTES, Receipts, ReceiptsError, parse_receipts
from poolwright.receipts.observed import Beside, build_observed
from poolwright.receipts.pins import list_pins
from poolwright.receipts.planned import build_planned, say_price
from poolwright.receipts.units import list_units
from poolwright.snapshots.cluster import build_stored, find_features, parse_cluster
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import SpecError
from poolwright.specs.version import parse_version

STDIN: Final = "-"


class InputError(Exception):
    """Something that receipts can't be made of; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class Given:
    """A file that was read."""

    name: str
    data: bytes


class _Kind(msgspec.Struct):
    """What a JSON document says it is."""

    kind: str = ""


def read_given(file: str) -> Given:
    """A file, or - for standard input. Raises: OSError that names it; InputError if it is too large."""
    if file == STDIN:
        given = Given("stdin", sys.stdin.buffer.read(MAX_RECEIPTS_BYTES + 1))
    else:
        try:
            with open(file, "rb") as opened:  # noqa: PTH123 (start-up: no pathlib)
                given = Given(file.replace(os.sep, "/"), opened.read(MAX_RECEIPTS_BYTES + 1))
        except ValueError as error:  # a NUL in the name
            raise InputError(f"the file can't be read: {error}") from None
    if len(given.data) > MAX_RECEIPTS_BYTES:
        raise InputError(f"{given.name} has more than {MAX_RECEIPTS_BYTES:,} bytes")
    return given


def is_receipts(given: Given) -> bool:
    """Whether a file says that it holds receipts."""
    return _find_kind(given.data) == "Receipts"


def parse_given(given: Given) -> Receipts:
    """Receipts that were made before. Raises: InputError."""
    try:
        return parse_receipts(given.data)
    except ReceiptsError as error:
        raise InputError(f"{given.name}: {error}") from None


def plan_receipts(given: LoadedForPlan, cluster: str) -> Receipts:
    """The planned receipts of a cluster of a project. Raises: SpecError."""
    case = given.build_case(cluster)
    check_nodes(case)
    return build_planned(
        case.demand,
        judge(case.demand),
        cluster=cluster,
        units=list_units(case.loaded.specs, cluster),
        prices=case.price().prices,
        pins=list_pins(case.loaded.lock, case.on.cluster.stack_name),
    )


def observe_receipts(
    files: Sequence[Given], *, case: PlanCase | None, cluster: str | None, kubernetes: str | None
) -> Receipts:
    """The receipts of a cluster as it runs.

    files:      lists as kubectl prints them, which together are one cluster, or one Snapshot.
    case:       of the project, whose gates, pins, prices and models count; None: there is none.
    kubernetes: the cluster's version, where neither a project nor a Snapshot says it; None: the newest known.
    Raises:     SpecError; InputError.
    """
    snapshots = [one for one in files if _find_kind(one.data) == "Snapshot"]
    if snapshots:
        if len(files) > 1:
            raise InputError(f"{snapshots[0].name} is a Snapshot, which is a whole cluster by itself")
        return _observe_snapshot(snapshots[0], case, cluster)
    objects = _parse_lists(files)
    if case is not None:
        features = case.cluster.features
        stored = _store(objects, features, case.cluster.gates)
        return build_observed(stored, features, cluster=case.cluster.name, beside=_build_beside(case))
    minor = parse_version(kubernetes).minor if kubernetes is not None else MINORS[-1]
    if minor not in MINORS:
        raise InputError(f"the allocator of Kubernetes {kubernetes} isn't modelled; known: {', '.join(MINORS)}")
    gates = read_facts().effective_gates(minor, {})
    features = build_features(minor, gates)
    return build_observed(_store(objects, features, gates), features, cluster=cluster or "unnamed")


def _observe_snapshot(given: Given, case: PlanCase | None, cluster: str | None) -> Receipts:
    captured, facts = parse_cluster(given.data, given.name), read_facts()
    header = captured.snapshot.header
    if cluster not in (None, header.cluster):
        raise InputError(f"{given.name} is of the cluster {header.cluster}, not of {cluster}")
    gates = {} if case is None else case.on.stack.value.spec.kubernetes.feature_gates
    features = find_features(captured.snapshot, gates, facts)
    if isinstance(features, str):
        raise InputError(f"{given.name}: {features}")
    return build_observed(
        build_stored(captured, features, gates, facts),
        features,
        cluster=header.cluster,
        captured_at=header.captured_at,
        beside=None if case is None else _build_beside(case),
    )


def _build_beside(case: PlanCase) -> Beside:
    return Beside(
        units=list_units(case.loaded.specs, case.cluster.name),
        prices={(one.workload, one.class_name): say_price(one) for one in case.price().prices},
        pins=list_pins(case.loaded.lock, case.on.cluster.stack_name),
    )


def _parse_lists(files: Sequence[Given]) -> ClusterObjects:
    documents: list[Document] = []
    for one in files:
        found = parse_documents(one.data, one.name, max_bytes=MAX_RECEIPTS_BYTES)
        if not found:
            raise SpecError([build_empty(one.name)])
        documents += found
    return parse_objects(documents)


def _store(objects: ClusterObjects, features: Features, gates: Mapping[str, bool]) -> ClusterObjects:
    """As the scheduler goes by them."""
    stripped, _ = strip_gated(objects, gates)
    stored, _, found = drop_refused(stripped, minor=features.minor)
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    return apply_rules(stored, features.minor) if features.applies_taint_rules else stored


def _find_kind(data: bytes) -> str:
    """The kind of a JSON document, or of the first of several lines; empty: it says none, or isn't JSON."""
    for text in (data, data.partition(b"\n")[0]):
        try:
            return msgspec.json.decode(text, type=_Kind).kind
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return ""
