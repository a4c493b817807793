"""The example fleet's rehearsals: made up, one for each step of each row but one, and the snapshots of one of them.

`python tests/rehearsal_records.py` writes them; a test compares them with what is shipped.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from folders import write_files
from given_cluster import Json, as_file, claim, device_class, exactly, gpu, holds, node, slice_of
from poolwright.snapshots.build_snapshot import build_snapshot
from poolwright.snapshots.snapshot import LAYERS, Header, render_snapshot
from poolwright.specs.digest import digest_bytes
from poolwright.specs.document import parse_documents
from poolwright.specs.rehearsal import STEPS, Step

FLEET: Final = Path(__file__).parent.parent / "examples" / "fleet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A row that was rehearsed from a day on."""

    folder: str  # of its stack
    name: str
    model: str
    mode: str
    pattern: str
    image: str
    version: str
    cluster: str
    first_day: dt.date
    steps: tuple[Step, ...] = STEPS
    remark: str = ""  # above its first record

    @property
    def is_shared(self) -> bool:
        """Whether it is of the stack with the alpha gate."""
        return self.folder == "26-7-shares"


VLLM: Final = {"image": "vllm", "version": "0.33.0"}
REHEARSED: Final = (
    Rehearsed(
        folder="26-7",
        name="a100-full-perpod-vllm",
        model="a100-sxm4-40gb",
        mode="full",
        pattern="perPod",
        cluster="east",
        first_day=dt.date(2026, 10, 13),
        **VLLM,
    ),
    Rehearsed(
        folder="26-7",
        name="h100-full-perpod-sglang",
        model="h100-sxm5-80gb",
        mode="full",
        pattern="perPod",
        image="sglang",
        version="0.5.23",
        cluster="lab",
        first_day=dt.date(2026, 10, 9),
    ),
    Rehearsed(
        folder="26-7",
        name="h100-full-perpod-vllm",
        model="h100-sxm5-80gb",
        mode="full",
        pattern="perPod",
        cluster="lab",
        first_day=dt.date(2026, 10, 1),
        **VLLM,
    ),
    Rehearsed(
        folder="26-7",
        name="h100-full-perpodshared-vllm",
        model="h100-sxm5-80gb",
        mode="full",
        pattern="perPodShared",
        cluster="lab",
        first_day=dt.date(2026, 10, 6),
        **VLLM,
    ),
    Rehearsed(
        folder="26-7",
        name="h100-partition-named-vllm",
        model="h100-sxm5-80gb",
        mode="partition",
        pattern="named",
        cluster="lab",
        first_day=dt.date(2026, 10, 20),
        **VLLM,
    ),
    Rehearsed(
        folder="26-7",
        name="h100-partition-perpod-vllm",
        model="h100-sxm5-80gb",
        mode="partition",
        pattern="perPod",
        cluster="lab",
        first_day=dt.date(2026, 10, 22),
        steps=("install", "upgrade", "rollback"),
        remark="# There is no recovery.yaml beside this one: the fleet's first H100 MIG node arrives on 2026-12-08,\n"
        "# and the borrowed one went back before its loss was rehearsed. So the row isn't promoted.\n",
        **VLLM,
    ),
    Rehearsed(
        folder="26-7-shares",
        name="h200-shared-perpod-vllm",
        model="h200-sxm-141gb",
        mode="shared",
        pattern="perPod",
        cluster="lab-alpha",
        first_day=dt.date(2026, 11, 10),
        **VLLM,
    ),
)
# The record whose snapshots are in the example.
SHOWN: Final = ("h100-full-perpod-vllm", "upgrade")
_DAYS: Final[Mapping[Step, int]] = {"install": 0, "upgrade": 1, "rollback": 1, "recovery": 2}


def build_records() -> dict[str, bytes]:
    """Every record and snapshot by its path from the project."""
    files: dict[str, bytes] = {}
    for one in REHEARSED:
        for step in one.steps:
            evidence = f"evidence/{one.folder}/{one.name}/{step}"
            shown = dict(_build_snapshots()) if (one.name, step) == SHOWN else {}
            files |= {f"{evidence}/{end}.jsonl": data for end, data in shown.items()}
            files[f"rehearsals/{one.folder}/{one.name}/{step}.yaml"] = render_record(one, step, shown).encode()
    return files


def render_record(one: Rehearsed, step: Step, shown: Mapping[str, bytes]) -> str:
    """A record's text.

    shown: its snapshots; without them their digests are made up.
    """
    name = f"{one.name}-{step}"
    driver, before = ("595.91.07", "595.71.05") if one.is_shared else ("580.173.02", "580.167.08")
    end = {"upgrade": f"  from: {{gpuDriver: {before}}}\n", "rollback": f"  to: {{gpuDriver: {before}}}\n"}.get(
        step, ""
    )
    gates = "{draDrivers: {dra-driver-nvidia-gpu: {ConsumableShares: true}}}" if one.is_shared else "{}"
    nics = "" if one.is_shared else ", {name: nic-dra-driver, version: 1.4.0}"
    digests = {end: digest_bytes(shown.get(end) or f"made up: {name} {end}".encode()) for end in ("before", "after")}
    return f"""\
{one.remark if step == one.steps[0] else ""}apiVersion: poolwright.dev/v1alpha1
kind: Rehearsal
metadata:
  name: {name}
spec:
  combination:
    kubernetes: 1.36.2
    featureGates: {gates}
    gpuOperator: 26.7.0
    draDrivers: [{{name: dra-driver-nvidia-gpu, version: 0.5.0}}{nics}]
    gpuDriver: {driver}
    containerRuntime: {{name: containerd, version: 2.2.1}}
    containerToolkit: 1.20.0
    cdi: true
    hardware: {{model: {one.model}, mode: {one.mode}}}
    claimPattern: {one.pattern}
    servingImage: {{name: {one.image}, version: {one.version}}}
  step: {step}
{end}  by: {"ana" if step in ("install", "recovery") else "ben"}@platform-gpu
  date: {one.first_day + dt.timedelta(days=_DAYS[step])}
  clusterName: {one.cluster}
  commit: {digest_bytes(f"made up: {name} commit".encode()).removeprefix("sha256:")[:40]}
  evidence: evidence/{one.folder}/{one.name}/{step}/
  claims:
    before: {digests["before"]}
    after: {digests["after"]}
  nodeChanges: []
  synthetic: true
"""


def _build_snapshots() -> Iterator[tuple[str, bytes]]:
    """Two replicas on a node, of which one restarts after the driver went up: it has a new claim on the same device."""
    for end, hour, driver in (("before", 9, "580.167.8"), ("after", 11, "580.173.2")):
        header = Header(
            cluster="lab",
            captured_at=f"2026-10-02T{hour:02}:00:00Z",
            kubernetes_version="v1.36.2",
            resource_versions={},
            layers={layer: "observed" if layer in ("scheduler", "driver") else "absent" for layer in LAYERS},
        )
        documents = parse_documents(as_file(_list_objects(end, driver)), "capture")
        yield end, render_snapshot(build_snapshot(header, documents))


def _list_objects(end: str, driver: str) -> Iterator[Json]:
    of = {"driverVersion": driver}
    yield node("h100-0")
    yield slice_of("h100-0", *(gpu(number, of=of) for number in range(2)))
    yield device_class("interactive-80g", 'device.driver == "gpu.nvidia.com"')
    for number, name in enumerate(("chat-70b-a-gpu", "chat-70b-b-gpu" if end == "before" else "chat-70b-c-gpu")):
        request, held = exactly("gpu", "interactive-80g"), holds(f"gpu-{number}", pool="h100-0")
        yield claim(name, request, namespace="chat", held=[held], node="h100-0", uid=f"uid-of-{name}")


if __name__ == "__main__":
    write_files(FLEET, build_records())
