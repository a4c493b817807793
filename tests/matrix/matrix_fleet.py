"""The example fleet with every version exact, as its lock has it, and its matrix."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from fleet import FACTS, Files, edit, list_rehearsals, list_specs, read_fleet
from poolwright.catalog.inventory import Inventory, parse_inventory
from poolwright.matrix.build_rows import build_rows
from poolwright.matrix.evidence import verify_evidence
from poolwright.matrix.judge import Matrix, judge_matrix
from poolwright.matrix.judge_record import JudgedRecord, judge_records
from poolwright.matrix.refuse import Grounds
from poolwright.matrix.row import Row
from poolwright.specs.document import parse_documents
from poolwright.specs.lock import Choice, FormatChoice, Lock, PricingChoice, StackLock
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.parse_rehearsals import parse_rehearsals

AS_OF = dt.date(2026, 11, 30)
CLUSTERS = ("east", "lab", "lab-alpha")
INVENTORY = "inventory/east.yaml"
STACK = "specs/stacks/operator-26-7.yaml"
_RUNTIME = "  containerRuntime: {name: containerd, version: 2.2.x}\n  cdi: {enabled: true}\n"


def read_whole_fleet() -> dict[str, bytes]:
    """The example, whose stacks say the runtime and CDI."""
    files = read_fleet()
    for stack in (STACK, "specs/stacks/operator-26-7-shares.yaml"):
        if b"containerRuntime:" not in files[stack]:
            files = edit(files, stack, ("  containerToolkit:", f"{_RUNTIME}  containerToolkit:"))
    return files


def build_stack_lock(driver: str, **more: str) -> StackLock:
    nics = {"nic-dra-driver": choose("1.4.0")} if driver == "580.173.02" else {}
    found = {"kubernetes": "1.36.2", "gpu_operator": "26.7.0", "container_runtime": "2.2.1", **more}
    return StackLock(
        **{component: choose(version) for component, version in found.items()},
        dra_drivers={"dra-driver-nvidia-gpu": choose("0.5.0"), **nics},
        gpu_driver=choose(driver),
        container_toolkit=choose("1.20.0"),
    )


def choose(version: str) -> Choice:
    return Choice(version=version, reason="for a test")


def build_lock(**more: str) -> Lock:
    """The lock of the example; more: other versions of its baseline stack, by field of the lock."""
    return Lock(
        api_version="poolwright.dev/v1alpha1",
        kind="Lock",
        min_poolwright="0.1.0",
        render_format=FormatChoice(version=1, reason="for a test"),
        pricing=PricingChoice(set="sha256:" + "0" * 64, reason="for a test"),
        stacks={
            "operator-26-7": build_stack_lock("580.173.02", **more),
            "operator-26-7-shares": build_stack_lock("595.91.07"),
        },
    )


def read_captures(files: Files) -> Mapping[str, Inventory]:
    documents = parse_documents(files[INVENTORY], INVENTORY, max_bytes=1 << 26)
    return {"east": parse_inventory(documents, INVENTORY)}


def parse(files: Files) -> Specs:
    return parse_specs(list_specs(files))


def build_fleet_rows(files: Files, lock: Lock | None) -> tuple[Row, ...]:
    return build_rows(parse(files), read_captures(files), lock, FACTS)


def judge(files: Files, lock: Lock | None, *, as_of: dt.date | None = AS_OF, takes_synthetic: bool = True) -> Matrix:
    records = judge_all(files, as_of=as_of, takes_synthetic=takes_synthetic)
    return judge_matrix(build_fleet_rows(files, lock), records, as_of=as_of)


def judge_all(
    files: Files, *, as_of: dt.date | None = AS_OF, takes_synthetic: bool = True, evidence: Files | None = None
) -> tuple[JudgedRecord, ...]:
    """Every record among the files, with the snapshots that are among them, or else are given."""
    records = parse_rehearsals(list_rehearsals(files))
    grounds = Grounds(as_of=as_of, takes_synthetic=takes_synthetic, clusters=CLUSTERS, facts=FACTS)
    snapshots = files if evidence is None else evidence
    return judge_records(
        records, {one.document.file: verify_evidence(one, snapshots, FACTS) for one in records}, grounds
    )
