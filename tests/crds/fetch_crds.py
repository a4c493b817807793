"""Takes the schemas of custom resources from the Go modules that publish them; needs Go and a module proxy.

    cd tests && python -m crds.fetch_crds            # rewrites crds/data and the list in NOTICE
    cd tests && python -m crds.fetch_crds --check    # exit 1 if that would change a byte

Each kind becomes `data/<group>_<version>_<Kind>.json.xz`; `data/index.json` says where it is from.
"""

import hashlib
import json
import lzma
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from crds.go_types import build_config_schema
from crds.strict_schema import build_schema

HERE = Path(__file__).parent
NOTICE = HERE.parent.parent / "NOTICE"
BEGIN, END = "--- custom resource schemas", "--- end of custom resource schemas"

ARGO = "github.com/argoproj/argo-cd/v3@v3.5.7"
LWS = "sigs.k8s.io/lws@v0.9.0"
GATEWAY = "sigs.k8s.io/gateway-api@v1.6.3"
INFERENCE = "sigs.k8s.io/gateway-api-inference-extension@v1.5.0"
MONITORING = "github.com/prometheus-operator/prometheus-operator@v0.93.1"
OPERATOR = "github.com/NVIDIA/gpu-operator@v0.0.0-20250917190837-d73a0086a6ba"
DRIVER = "sigs.k8s.io/dra-driver-nvidia-gpu@v0.5.0"

OLDER_OPERATOR = (
    "a state of September 2025, before release 26.7: no later one can be had as a module, and fields added since are"
    " refused"
)
MONITORING_FOLDER = "example/prometheus-operator-crd/monitoring.coreos.com_"
CONFIG_FOLDER = "api/nvidia.com/resource/v1beta1/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A kind, and the files that define it."""

    api_version: str
    kind: str
    module: str  # module@version; empty: written by hand, in this folder
    paths: tuple[str, ...]  # one definition in YAML, or the Go files of an opaque configuration
    note: str = ""


def _config(kind: str, *files: str) -> Wanted:
    paths = tuple(CONFIG_FOLDER + file for file in files)
    return Wanted(api_version="resource.nvidia.com/v1beta1", kind=kind, module=DRIVER, paths=paths)


def _crd(api_version: str, kind: str, module: str, path: str, note: str = "") -> Wanted:
    return Wanted(api_version=api_version, kind=kind, module=module, paths=(path,), note=note)


WANTED = (
    _crd("argoproj.io/v1alpha1", "AppProject", ARGO, "manifests/crds/appproject-crd.yaml"),
    _crd("argoproj.io/v1alpha1", "Application", ARGO, "manifests/crds/application-crd.yaml"),
    _crd(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        GATEWAY,
        "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
    ),
    _crd(
        "inference.networking.k8s.io/v1",
        "InferencePool",
        INFERENCE,
        "config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",
        "endpointPickerRef is required here and optional from v1.6.0 on",
    ),
    _crd(
        "inference.networking.x-k8s.io/v1alpha2",
        "InferenceObjective",
        INFERENCE,
        "config/crd/bases/inference.networking.x-k8s.io_inferenceobjectives.yaml",
        "the module's last release with this kind: v1.6.0 dropped it",
    ),
    _crd(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        LWS,
        "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
    ),
    _crd("monitoring.coreos.com/v1", "PodMonitor", MONITORING, f"{MONITORING_FOLDER}podmonitors.yaml"),
    _crd("monitoring.coreos.com/v1", "PrometheusRule", MONITORING, f"{MONITORING_FOLDER}prometheusrules.yaml"),
    _crd(
        "nvidia.com/v1", "ClusterPolicy", OPERATOR, "config/crd/bases/nvidia.com_clusterpolicies.yaml", OLDER_OPERATOR
    ),
    _crd("nvidia.com/v1alpha1", "GPUCluster", "", "by_hand/nvidia.com_gpuclusters.yaml", "only the fields set here"),
    _crd(
        "nvidia.com/v1alpha1",
        "NVIDIADriver",
        OPERATOR,
        "config/crd/bases/nvidia.com_nvidiadrivers.yaml",
        OLDER_OPERATOR,
    ),
    _config("ComputeDomainChannelConfig", "computedomainconfig.go"),
    _config("ComputeDomainDaemonConfig", "computedomainconfig.go"),
    _config("GpuConfig", "gpuconfig.go", "sharing.go"),
    _config("MigDeviceConfig", "migconfig.go", "sharing.go"),
    _config("VfioDeviceConfig", "vfiodeviceconfig.go", "iommu.go"),
)


def main(arguments: list[str]) -> int:
    """Write the data and its notice, or compare them with what stands there."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    files = build_files()
    notice = build_notice(NOTICE.read_text(encoding="utf-8"), json.loads(files["index.json"]))
    wanted = {HERE / "data" / name: content for name, content in files.items()} | {NOTICE: notice.encode()}
    stale = sorted(set((HERE / "data").glob("*")) - set(wanted))
    changed = sorted(
        path for path, content in wanted.items() if not path.exists() or unpack(path) != unpack(path, content)
    )
    for path in [*changed, *stale]:
        print(path.relative_to(NOTICE.parent))
    if not arguments:
        (HERE / "data").mkdir(exist_ok=True)
        for path in stale:
            path.unlink()
        for path in changed:
            path.write_bytes(wanted[path])
    return 1 if arguments and (changed or stale) else 0


def unpack(path: Path, content: bytes | None = None) -> bytes:
    """What a file holds, or would hold; two releases of xz may pack the same text differently."""
    packed = path.read_bytes() if content is None else content
    return lzma.decompress(packed) if path.suffix == ".xz" else packed


def build_files() -> dict[str, bytes]:
    """Everything under `data`, by name."""
    modules = {name: read_module(name) for name in sorted({wanted.module for wanted in WANTED} - {""})}
    files: dict[str, bytes] = {}
    index = []
    for wanted in WANTED:
        module = modules.get(wanted.module)
        folder = Path(module["Dir"]) if module else HERE
        sources = [(folder / path).read_bytes() for path in wanted.paths]
        schema = build_wanted(wanted, sources)
        text = render_json(schema)
        name = f"{wanted.api_version.replace('/', '_')}_{wanted.kind}.json.xz"
        files[name] = lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
        index.append(
            {
                "apiVersion": wanted.api_version,
                "kind": wanted.kind,
                "file": name,
                "sha256": hashlib.sha256(text).hexdigest(),  # of what is packed
                "module": module["Path"] if module else None,
                "version": module["Version"] if module else None,
                "moduleSum": module["Sum"] if module else None,
                "sources": [
                    {"path": path, "sha256": hashlib.sha256(source).hexdigest()}
                    for path, source in zip(wanted.paths, sources, strict=True)
                ],
                "licence": read_licence(folder) if module else None,
                "unverified": module is None,
                "celRules": count_rules(schema),
                "note": wanted.note,
            }
        )
    files["index.json"] = json.dumps(index, indent=2).encode() + b"\n"
    return files


def build_wanted(wanted: Wanted, sources: list[bytes]) -> dict[str, Any]:
    """The strict schema of one kind."""
    if wanted.paths[0].endswith(".go"):
        return build_config_schema(b"\n".join(sources).decode(), wanted.api_version, wanted.kind)
    crd = yaml.load(sources[0], Loader=yaml.CSafeLoader)
    group, version = wanted.api_version.split("/")
    found = (crd["spec"]["group"], crd["spec"]["names"]["kind"])
    if found != (group, wanted.kind):
        raise ValueError(f"{wanted.paths[0]} defines {found}")
    return build_schema(crd, version)


def read_module(name: str) -> dict[str, str]:
    """What `go mod download` says of a module: Path, Version, Sum (checked against the checksum database), Dir."""
    with tempfile.TemporaryDirectory() as empty:
        answer = subprocess.run(["go", "mod", "download", "-json", name], cwd=empty, capture_output=True, check=False)
    module: dict[str, str] = json.loads(answer.stdout or b"{}")
    if answer.returncode or "Dir" not in module:
        raise SystemExit(f"{name}: {module.get('Error') or answer.stderr.decode()}")
    return module


def read_licence(folder: Path) -> str:
    """The SPDX identifier of a module's licence."""
    text = " ".join((folder / "LICENSE").read_text(encoding="utf-8").split())
    if "Apache License Version 2.0, January 2004" not in text:
        raise SystemExit(f"{folder.name}: not the licence that NOTICE speaks of")
    return "Apache-2.0"


def count_rules(node: Any) -> int:
    """How many rules in CEL a schema holds; a reader of the index should know what isn't checked."""
    if isinstance(node, list):
        return sum(map(count_rules, node))
    if not isinstance(node, dict):
        return 0
    return len(node.get("x-kubernetes-validations", ())) + sum(map(count_rules, node.values()))


def build_notice(text: str, index: list[dict[str, Any]]) -> str:
    """NOTICE with the list between its two marks made anew."""
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    modules: dict[str, list[str]] = {}
    for entry in index:
        if entry["module"]:
            head = f"{entry['module']} {entry['version']} ({entry['licence']})"
            modules.setdefault(head, []).append(f"{entry['kind']} {entry['apiVersion']}")
    lines = [line for head, kinds in sorted(modules.items()) for line in (head, *(f"    {kind}" for kind in kinds), "")]
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n{END}{after}"


def render_json(value: Any) -> bytes:
    """Compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
