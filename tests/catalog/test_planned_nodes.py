"""Planned nodes as the slices that a driver would publish, and what is said of those that can't be."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet import FACTS, FLEET
from kubernetes_schemas import MINORS, check_object
from poolwright.catalog.inventory import parse_inventory
from poolwright.catalog.mig_layout import Partition, place_partitions
from poolwright.catalog.planned_devices import PCIE_ROOT, normalize_version
from poolwright.catalog.planned_nodes import build_planned_slices
from poolwright.catalog.planned_rules import check_planned_names, check_planned_nodes
from poolwright.catalog.planned_yaml import build_slice_object, render_planned_slices
from poolwright.catalog.resource_slice import Device, RequestPolicy, ResourceSlice, ValidRange
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import render_text
from poolwright.specs.quantity import parse_quantity
from small_project import NODES, POOL, Change, plan_nodes, read_project

GPU = "gpu.nvidia.com"
H100 = "{name: g, count: 1, hardwareModel: h100-sxm5-80gb, devicesPerNode: 2, zone: a}"
MIG_H100 = (
    "{name: g, count: 1, hardwareModel: h100-sxm5-80gb, devicesPerNode: 2, zone: a, "
    "partitions: [{devices: 1, profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}]}"
)
A100 = MIG_H100.replace("h100-sxm5-80gb", "a100-sxm4-40gb").replace(
    "{3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}", "{3g.20gb: 1, 2g.10gb: 1, 1g.5gb: 2}"
)
WITH_NICS = H100.replace("zone: a}", "zone: a, companions: [{driver: nic.example.com, attributes: {rdma: true}}]}")


def expand(entry: str, *changes: Change) -> tuple[ResourceSlice, ...]:
    pool, stack = plan_nodes(entry, *changes)
    assert render_text(check_planned_nodes(pool, stack, FACTS)) == ""
    return build_planned_slices(pool.value, stack.value, FACTS)


def devices_of(slices: tuple[ResourceSlice, ...]) -> dict[str, Device]:
    return {device.name: device for one in slices for device in one.devices}


def release(version: str) -> Change:
    name = "dra-driver-nvidia-gpu" if version.startswith("0.") else "nvidia-dra-driver-gpu"
    return "name: dra-driver-nvidia-gpu, version: 0.5.0", f"name: {name}, version: {version}"


def gates(*names: str, settings: str = "computeDomains: disabled") -> Change:
    on = ", ".join(f"{name}: true" for name in names)
    return "settings: {computeDomains: disabled}", f"featureGates: {{{on}}}, settings: {{{settings}}}"


# Names of attributes on devices of each release, as captures of it have them; ? where a device may lack it.
BOARD = "architecture brand cudaComputeCapability cudaDriverVersion driverVersion productName type uuid"
STANDARD = "resource.kubernetes.io/pciBusID resource.kubernetes.io/pcieRoot"
PUBLISHED = {
    ("25.3.2", "gpu-1"): f"{BOARD} index minor pcieBusID resource.kubernetes.io/pcieRoot",
    ("25.8.0", "gpu-1"): f"{BOARD} pcieBusID resource.kubernetes.io/pcieRoot",
    ("25.12.0", "gpu-1"): f"{BOARD} {STANDARD} addressingMode?",
    ("0.4.1", "gpu-1"): f"{BOARD} {STANDARD} addressingMode?",
    ("0.5.0", "gpu-1"): f"{BOARD} {STANDARD} addressingMode? resource.kubernetes.io/numaNode?",
    ("25.3.2", "gpu-0-mig-9-4-4"): (
        f"{BOARD} parentUUID profile index parentIndex pcieBusID resource.kubernetes.io/pcieRoot"
    ),
    ("25.8.0", "gpu-0-mig-9-4-4"): f"{BOARD} parentUUID profile pcieBusID resource.kubernetes.io/pcieRoot",
    ("25.12.0", "gpu-0-mig-3g40gb-9-4"): f"{BOARD} parentUUID profile {STANDARD} addressingMode?",
    ("0.5.0", "gpu-0-mig-3g40gb-9-4"): (
        f"{BOARD} parentUUID profile {STANDARD} addressingMode? resource.kubernetes.io/numaNode?"
    ),
}


@pytest.mark.parametrize(("version", "name"), PUBLISHED, ids=lambda value: str(value))
def test_attributes_of_each_release(version: str, name: str) -> None:
    device = devices_of(expand(MIG_H100, release(version)))[name]
    said = {
        (identifier if domain == GPU else f"{domain}/{identifier}") + ("" if on.certain else "?")
        for (domain, identifier), on in device.attributes.items()
    }
    assert said == set(PUBLISHED[version, name].split())


def test_a_planned_node_has_what_the_captured_one_of_its_kind_has() -> None:
    """The example's captured nodes, planned: all is the same, but for what only a device can tell."""
    file = FLEET / "inventory/east.yaml"
    captured = {
        (d.pool, d.name): d for d in parse_inventory(parse_documents(file.read_bytes(), "east"), "east").devices
    }
    h100 = devices_of(expand(H100.replace("devicesPerNode: 2", "devicesPerNode: 8")))
    planned = {("gpu-h100-a", name): device for name, device in h100.items()}
    planned |= {("gpu-a100-mig-a", name): device for name, device in devices_of(expand(A100)).items()}
    assert sorted(planned) == sorted(key for key, device in captured.items() if device.driver == GPU)
    unknown = set()
    for key, device in planned.items():
        seen = captured[key]
        assert device.capacity == seen.capacity
        assert device.driver == seen.driver
        for name, on in device.attributes.items():
            there = seen.attributes.get(name)
            assert there is not None or not on.certain
            if there is not None:
                assert there.type == on.type
            if there is None or on.value is None:
                unknown.add(name[1])
            elif name != PCIE_ROOT:
                assert on.value == there.value
        assert set(seen.attributes) <= set(device.attributes)
    assert unknown == {
        *("addressingMode", "brand", "cudaDriverVersion", "numaNode", "parentUUID", "pciBusID", "uuid"),
    }


SYNTHETIC = {"whole": H100, "partitions": MIG_H100, "companions": WITH_NICS}


@pytest.mark.parametrize("entry", SYNTHETIC.values(), ids=SYNTHETIC)
def test_nothing_planned_looks_measured(entry: str) -> None:
    for one in expand(entry):
        assert one.planned
        assert one.generation == 0
        assert one.name.startswith("planned-")
        for device in one.devices:
            assert device.planned
            values = {name: on.value for (_, name), on in device.attributes.items()}
            assert str(values["pcieRoot"]).startswith("planned:")
            for name in {"uuid", "parentUUID", "pciBusID", "pcieBusID", "numaNode", "minor", "index"} & set(values):
                assert values[name] is None
    text = render_planned_slices(expand(entry))
    assert not re.search(r"GPU-|MIG-|[0-9a-f]{4}:[0-9a-f]{2}:|pci0000", text)
    assert all(d["metadata"]["annotations"]["poolwright.dev/planned"] == "true" for d in yaml.safe_load_all(text))


def test_names_zones_and_order_of_nodes() -> None:
    slices = expand(H100.replace("count: 1", "count: 3"))
    assert [(one.name, one.pool, one.placement.node_name, len(one.devices), one.slice_count) for one in slices] == [
        (f"planned-00000-gpu.nvidia.com-g-{number}", f"g-{number}", f"g-{number}", 2, 1) for number in range(3)
    ]
    pool, stack = plan_nodes(H100.replace("count: 1", "count: 3"))
    assert build_planned_slices(pool.value, stack.value, FACTS, max_nodes=1) == slices[:1]
    assert build_planned_slices(pool.value, stack.value, FACTS) == slices


def test_companions_are_on_the_roots_of_their_accelerators() -> None:
    two = WITH_NICS.replace("{driver: nic.example.com", "{driver: nic.example.com, perDevice: 2")
    gpus, nics = expand(two)
    assert (nics.driver, nics.pool, nics.slice_count) == ("nic.example.com", "g-0", 1)
    roots = {device.name: device.attributes[PCIE_ROOT].value for device in (*gpus.devices, *nics.devices)}
    assert roots == {
        "gpu-0": "planned:g-0/0",
        "gpu-1": "planned:g-0/1",
        "planned-0-0": "planned:g-0/0",
        "planned-0-1": "planned:g-0/0",
        "planned-1-0": "planned:g-0/1",
        "planned-1-1": "planned:g-0/1",
    }
    rdma = nics.devices[0].attributes["nic.example.com", "rdma"]
    assert (rdma.type, rdma.value) == ("bool", True)


def test_companions_of_one_driver_share_a_pool_of_as_few_slices_as_can_be() -> None:
    many = "companions: [{driver: nic.example.com, perDevice: 16, attributes: {speed: 400, port: a}}]}"
    entry = H100.replace("devicesPerNode: 2", "devicesPerNode: 10").replace("zone: a}", f"zone: a, {many}")
    nics = [one for one in expand(entry) if one.driver == "nic.example.com"]
    assert [(one.name, len(one.devices), one.slice_count) for one in nics] == [
        ("planned-00000-nic.example.com-g-0", 128, 2),
        ("planned-00001-nic.example.com-g-0", 32, 2),
    ]
    assert len(devices_of(tuple(nics))) == 160


def policy(default: str, least: str, most: str, step: str) -> RequestPolicy:
    bounds = ValidRange(min=parse_quantity(least), max=parse_quantity(most), step=parse_quantity(step))
    return RequestPolicy(default=parse_quantity(default), valid_range=bounds)


SHARES = {
    "unlimited": (policy("0", "0", "143771Mi", "1Mi"), None),
    "memory": (policy("143771Mi", "1Mi", "143771Mi", "1Mi"), None),
    "4": (policy("0", "0", "143771Mi", "1Mi"), policy("1", "1", "4", "1")),
    "disabled": (None, None),
}


@pytest.mark.parametrize("mode", SHARES)
def test_shared_devices(mode: str) -> None:
    entry = H100.replace("h100-sxm5-80gb", "h200-sxm-141gb")
    setting = gates("ConsumableShares", settings=f"computeDomains: disabled, consumableShares: {mode}")
    device = devices_of(expand(entry, setting))["gpu-0"]
    memory, shares = SHARES[mode]
    assert device.allow_multiple_allocations == (mode != "disabled")
    assert device.capacity[GPU, "memory"].request_policy == memory
    shared = device.capacity.get((GPU, "shares"))
    assert (shared.request_policy if shared else None) == shares


def test_shares_without_their_gate_change_nothing() -> None:
    without = gates("TimeSlicingSettings", settings="computeDomains: disabled, consumableShares: 4")
    assert expand(H100, without) == expand(H100)


def test_partitions_that_the_driver_makes() -> None:
    """Figures of a split H100 SXM: 25 profile placements, and a whole GPU no larger than its largest partition."""
    counters, *rest = expand(H100, gates("DynamicMIG"))
    assert [one.slice_count for one in (counters, *rest)] == [3, 3, 3]
    assert (len(counters.devices), [len(one.devices) for one in rest]) == (0, [26, 26])
    assert [c.counter_set for c in counters.shared_counters] == ["gpu-0-counter-set", "gpu-1-counter-set"]
    total = {name: value.normal_text for name, value in counters.shared_counters[0].counters.items()}
    assert total == {
        "copy-engines": "8",
        "decoders": "7",
        "encoders": "0",
        "jpeg-engines": "7",
        "ofa-engines": "1",
        "memory": "81152Mi",
        "multiprocessors": "132",
        **{f"memory-slice-{n}": "1" for n in range(8)},
    }
    devices = {device.name: device for device in rest[1].devices}
    assert list(devices) == sorted(devices)
    assert devices["gpu-1"].capacity[GPU, "memory"].value == counters.shared_counters[0].counters["memory"]
    assert devices["gpu-1"].consumes[0].counters == counters.shared_counters[1].counters
    part = devices["gpu-1-mig-1g20gb-15-6"]
    assert {name for name in part.consumes[0].counters if "slice" in name} == {"memory-slice-6", "memory-slice-7"}
    assert part.consumes[0].counter_set == "gpu-1-counter-set"
    assert (GPU, "uuid") not in part.attributes
    assert not any("memorySlice" in name for _, name in part.capacity)


def test_the_layout_of_split_slices_on_an_older_kubernetes() -> None:
    slices = expand(H100, gates("DynamicMIG"), ("version: 1.36.x", "version: 1.34.x"))
    assert [(len(one.devices), [c.counter_set for c in one.shared_counters]) for one in slices] == [
        (26, ["gpu-0-counter-set"]),
        (26, ["gpu-1-counter-set"]),
    ]


def test_what_cannot_be_split_stays_whole() -> None:
    for model in ("l40s", "a100-sxm4-40gb"):
        entry = H100.replace("h100-sxm5-80gb", model)
        assert list(devices_of(expand(entry, gates("DynamicMIG")))) == ["gpu-0", "gpu-1"]


def test_devices_for_virtual_machines() -> None:
    devices = devices_of(expand(MIG_H100, gates("PassthroughSupport")))
    assert [name for name in devices if "mig" not in name] == ["gpu-1", "gpu-vfio-1"]
    vfio = devices["gpu-vfio-1"]
    assert vfio.attributes[GPU, "deviceID"].value == "0x2330"
    assert vfio.capacity[GPU, "addressableMemory"].value is None


DOMAINS = {
    "by-default": ("settings: {}", ["channel-0", "daemon-0"]),
    "daemon-of-the-host": ("settings: {imexMode: hostManaged}", ["channel-0"]),
    "none": ("settings: {computeDomains: disabled}", []),
}


@pytest.mark.parametrize(("settings", "names"), DOMAINS.values(), ids=DOMAINS)
def test_compute_domains(settings: str, names: list[str]) -> None:
    slices = expand(H100, ("settings: {computeDomains: disabled}", settings))
    found = [one for one in slices if one.driver == "compute-domain.nvidia.com"]
    assert [device.name for one in found for device in one.devices] == names
    for device in (device for one in found for device in one.devices):
        values = {name: on.value for (_, name), on in device.attributes.items()}
        assert values == {"type": device.name.partition("-")[0], "id": 0}


VERSIONS = {
    "580.173.02": "580.173.2",
    "580.105.08": "580.105.8",
    "595.91.07": "595.91.7",
    "580.126": "580.126.0",
    "v570.86.10": "570.86.10",
    "580": "580.0.0",
    "580.1.2.3": None,
    "580.1-beta": None,
    "": None,
}


@pytest.mark.parametrize(("text", "version"), VERSIONS.items(), ids=lambda value: str(value))
def test_versions_as_drivers_publish_them(text: str, version: str | None) -> None:
    assert normalize_version(text) == version


def test_what_no_source_confirms_is_said() -> None:
    entry = MIG_H100.replace("h100-sxm5-80gb", "h100-pcie-80gb")
    devices = devices_of(expand(entry))
    assert devices["gpu-1"].unverified == ("h100-pcie-80gb: memory",)
    assert devices["gpu-0-mig-3g40gb-9-4"].unverified == ("h100-pcie-80gb: profile 3g.40gb",)
    assert devices["gpu-0-mig-3g40gb-9-4"].capacity[GPU, "multiprocessors"].value is None
    assert {device.unverified for device in devices_of(expand(MIG_H100)).values()} == {()}
    annotations = yaml.safe_load(render_planned_slices(expand(entry)))["metadata"]["annotations"]
    assert annotations == {
        "poolwright.dev/planned": "true",
        "poolwright.dev/planned-unknown": (
            "addressingMode, brand, cudaDriverVersion, multiprocessors, parentUUID, resource.kubernetes.io/numaNode, "
            "resource.kubernetes.io/pciBusID, uuid"
        ),
        "poolwright.dev/planned-unverified": (
            "h100-pcie-80gb: memory, h100-pcie-80gb: profile 1g.10gb, h100-pcie-80gb: profile 2g.20gb, "
            "h100-pcie-80gb: profile 3g.40gb"
        ),
    }


RENDERED = {
    "whole": expand(H100),
    "partitions": expand(MIG_H100),
    "companions": expand(WITH_NICS),
    "shared": expand(H100, gates("ConsumableShares", settings="consumableShares: 4")),
    "split": expand(H100, gates("DynamicMIG")),
    "virtual-machines": expand(H100, gates("PassthroughSupport", "FabricManagerPartitioning")),
    "old-driver": expand(MIG_H100, release("25.3.2")),
}


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("slices", RENDERED.values(), ids=RENDERED)
def test_rendered_slices_are_such_as_the_api_server_takes(slices: tuple[ResourceSlice, ...], minor: str) -> None:
    objects = list(yaml.safe_load_all(render_planned_slices(slices)))
    assert objects == [build_slice_object(one) for one in slices]
    for obj in objects:
        assert check_object(obj, minor) == []
        assert list(_break_limits(obj["spec"])) == []


def _break_limits(spec: dict[str, list[dict[str, dict[str, object]]]]) -> Iterator[str]:
    """Limits that stand in no schema (k8s.io/api resource/v1)."""
    devices = spec.get("devices", [])
    yield from ("128 devices" for _ in [1] if len(devices) > 128)
    yield from ("64 devices" for _ in [1] if len(devices) > 64 and any("consumesCounters" in d for d in devices))
    yield from ("8 counter sets" for _ in [1] if len(spec.get("sharedCounters", [])) > 8)
    names = [device["name"] for device in devices]
    yield from ("repeated name" for _ in [1] if len({*map(str, names)}) < len(names))
    for device in devices:
        yield from (
            "32 values" for _ in [1] if len(device.get("attributes", {})) + len(device.get("capacity", {})) > 32
        )
        if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", str(device["name"])):
            yield f"{device['name']} is no DNS label"
        for name, box in device.get("attributes", {}).items():
            assert isinstance(box, dict)
            ((_, value),) = box.items()
            yield from (
                f"{name} is too long" for _ in [1] if len(str(value)) > 63
            )  # of two digits, a root takes one more


def test_longest_names_fit() -> None:
    name = "n" * 40
    entry = WITH_NICS.replace("name: g,", f"name: {name},").replace("count: 1", "count: 1000")
    slices = expand(entry)[-2:]
    assert slices[0].devices[1].attributes[PCIE_ROOT].value == f"planned:{name}-999/1"
    for obj in map(build_slice_object, slices):
        assert check_object(obj, "1.36") == []
        assert list(_break_limits(obj["spec"])) == []


def test_rendered_slices_read_back() -> None:
    slices = RENDERED["shared"]
    documents = parse_documents(render_planned_slices(slices).encode(), "planned.yaml")
    back = parse_inventory(documents, "planned.yaml").slices
    assert [(one.name, one.pool, [device.name for device in one.devices]) for one in back] == [
        (one.name, one.pool, [device.name for device in one.devices]) for one in slices
    ]
    for device, read in zip(slices[0].devices, back[0].devices, strict=True):
        assert read.capacity == device.capacity
        assert read.attributes == {key: on for key, on in device.attributes.items() if on.value is not None}


# --- layouts -------------------------------------------------------------------------------------------------------

MODELS = ("a100-sxm4-40gb", "a100-sxm4-80gb", "h100-sxm5-80gb", "h100-nvl-94gb")


def lie_apart(partitions: tuple[Partition, ...]) -> bool:
    return all(not set(a.slices) & set(b.slices) for a, b in itertools.combinations(partitions, 2))


def possible_layouts(model: str) -> set[tuple[tuple[str, int], ...]]:
    """Every multiset of profiles that some choice of placements has room for, by trying all of them."""
    profiles = FACTS.model_profiles(model)
    layouts: set[tuple[tuple[str, int], ...]] = set()

    def extend(counts: dict[str, int], taken: int, first: int) -> None:
        layouts.add(tuple(sorted(counts.items())))
        places = [(p, place) for p in profiles for place in p.placements]
        for index in range(first, len(places)):
            profile, place = places[index]
            mask = ((1 << place.size) - 1) << place.start
            if not taken & mask and counts.get(profile.name, 0) < profile.max_instances:
                extend({**counts, profile.name: counts.get(profile.name, 0) + 1}, taken | mask, index + 1)

    extend({}, 0, 0)
    return layouts


@pytest.mark.parametrize("model", MODELS)
def test_every_layout_is_placed_exactly_where_one_is_possible(model: str) -> None:
    """All of what fits, and one partition more of each profile: placed whole if, and only if, there is room."""
    profiles = FACTS.model_profiles(model)
    slices = FACTS.hardware_model(model)
    assert slices is not None
    possible = possible_layouts(model)
    tried = set(possible)
    for layout in possible:
        for profile in profiles:
            counts = dict(layout)
            counts[profile.name] = counts.get(profile.name, 0) + 1
            tried.add(tuple(sorted(counts.items())))
    assert len(tried) > len(possible) > 100
    for layout in tried:
        placed = place_partitions(dict(layout), profiles)
        assert lie_apart(placed)
        assert all((p.start, p.size) in {(q.start, q.size) for q in p.profile.placements} for p in placed)
        counts = {name: [p.profile.name for p in placed].count(name) for name, _ in layout}
        assert (counts == dict(layout)) == (layout in possible), layout
        # Placements alone keep to the compute slices.
        compute = sum(int(p.profile.name.partition("g")[0]) for p in placed)
        assert compute <= (slices.mig_compute_slices or 0)
        if layout not in possible:
            within = [other for other in possible if all(n <= dict(layout).get(name, 0) for name, n in other)]
            sizes = {profile.name: profile.placements[0].size for profile in profiles}
            most = max(sum(sizes[name] * n for name, n in other) for other in within)
            assert sum(p.size for p in placed) == most


@given(data=st.data())
def test_no_two_partitions_overlap_whatever_is_asked(data: st.DataObject) -> None:
    model = data.draw(st.sampled_from([f.model for f in FACTS.hardware if FACTS.model_profiles(f.model)]))
    profiles = FACTS.model_profiles(model)
    names = [profile.name for profile in profiles]
    asked = data.draw(st.dictionaries(st.sampled_from(names), st.integers(1, 64)))
    placed = place_partitions(asked, profiles)
    assert lie_apart(placed)
    assert [p.start for p in placed] == sorted(p.start for p in placed)
    assert bool(placed) == bool(asked)
    for profile in profiles:
        found = [p for p in placed if p.profile == profile]
        assert len(found) <= min(asked.get(profile.name, 0), profile.max_instances)
    again = place_partitions(dict(reversed(asked.items())), tuple(reversed(profiles)))
    assert again == placed


KNOWN_LAYOUTS = {
    # As the public slice of a node that MIG manager cut has it ("all-balanced").
    "a100-balanced": ("a100-sxm4-40gb", {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}, ["19-0", "19-1", "14-2", "9-4"]),
    # As the MIG guide's listing has it.
    "one-of-three-sizes": ("a100-sxm4-40gb", {"4g.20gb": 1, "2g.10gb": 1, "1g.5gb": 1}, ["5-0", "14-4", "19-6"]),
    "two-halves": ("a100-sxm4-40gb", {"3g.20gb": 2}, ["9-0", "9-4"]),
    "seven": ("h100-sxm5-80gb", {"1g.10gb": 7}, [f"19-{n}" for n in range(7)]),
    "whole": ("h100-sxm5-80gb", {"7g.80gb": 1}, ["0-0"]),
    "four-doubles": ("h100-sxm5-80gb", {"1g.20gb": 4}, ["15-0", "15-2", "15-4", "15-6"]),
}


@pytest.mark.parametrize(("model", "asked", "places"), KNOWN_LAYOUTS.values(), ids=KNOWN_LAYOUTS)
def test_known_layouts(model: str, asked: dict[str, int], places: list[str]) -> None:
    placed = place_partitions(asked, FACTS.model_profiles(model))
    assert [f"{p.profile.gi_profile_id}-{p.start}" for p in placed] == places


# --- what is said --------------------------------------------------------------------------------------------------


def say(entry: str, *changes: Change) -> str:
    return render_text(check_planned_nodes(*plan_nodes(entry, *changes), FACTS))


MODELS_KNOWN = ", ".join(fact.model for fact in FACTS.hardware)
PLACE = "specs/pool.yaml:9:"
SAID = {
    "unknown-hardware": (
        H100.replace("h100-sxm5-80gb", "h100-sxm-80gb"),
        (),
        f'{PLACE}42: no facts about the accelerator "h100-sxm-80gb"  [hardware-unknown]\n'
        "  at   spec.plannedNodes[0].hardwareModel\n"
        "  why  what a planned node will publish follows from its model, and isn't guessed"
        " (poolwright facts, hardware.json)\n"
        f'  fix  did you mean "h100-sxm5-80gb"? known: {MODELS_KNOWN}\n',
    ),
    "layout-that-does-not-fit": (
        MIG_H100.replace("{3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}", "{3g.40gb: 2, 1g.10gb+me: 1}"),
        (),
        f"{PLACE}122: no h100-sxm5-80gb can be cut into {{3g.40gb: 2, 1g.10gb+me: 1}}  [partition-layout]\n"
        "  at   spec.plannedNodes[0].partitions[0].profiles\n"
        "  why  partitions lie side by side on fixed memory slices: 1g.10gb+me takes 1 from 0, 1, 2, 3, 4, 5, 6, at"
        " most 1; 3g.40gb takes 4 from 0, 4 (poolwright facts, mig-profiles.json)\n"
        "  fix  of these, {3g.40gb: 2} fits, and covers most memory\n",
    ),
    "profile-of-another-model": (
        MIG_H100.replace("3g.40gb", "3g.20gb"),
        (),
        f'{PLACE}123: h100-sxm5-80gb has no profile "3g.20gb"  [partition-layout]\n'
        '  at   spec.plannedNodes[0].partitions[0].profiles["3g.20gb"]\n'
        "  why  a profile's name goes with the model and the memory that its driver reports"
        " (poolwright facts, mig-profiles.json)\n"
        '  fix  did you mean "3g.40gb"? known: 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb\n',
    ),
    "layout-without-profiles": (
        MIG_H100.replace("{3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}", "{}"),
        (),
        f'{PLACE}122: a layout of "g" has no profiles  [partition-layout]\n'
        "  at   spec.plannedNodes[0].partitions[0].profiles\n"
        "  why  an accelerator in MIG mode without partitions is not published: nothing of it could be claimed"
        " (poolwright.dev/v1alpha1)\n"
        "  fix  write some of: 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb\n",
    ),
    "model-without-mig": (
        MIG_H100.replace("h100-sxm5-80gb", "l40s"),
        (),
        f"{PLACE}89: l40s can't be cut into partitions  [partition-layout]\n"
        "  at   spec.plannedNodes[0].partitions[0]\n"
        "  why  it has no MIG (poolwright facts, hardware.json)\n"
        "  fix  remove the layout; models that have it: "
        + ", ".join(sorted(fact.model for fact in FACTS.hardware if FACTS.model_profiles(fact.model)))
        + "\n",
    ),
    "layout-where-the-driver-makes-partitions": (
        MIG_H100,
        (gates("DynamicMIG"),),
        f'{PLACE}99: "g" expects partitions, and stack "stack" has the gate DynamicMIG on  [partition-layout]\n'
        "  at   spec.plannedNodes[0].partitions[0]\n"
        "  why  the driver makes and removes partitions itself then, and publishes every one that is possible"
        " (poolwright facts, device-types.json)\n"
        "  fix  remove the layout, or turn the gate off\n",
    ),
    "more-cut-than-there-are": (
        MIG_H100.replace("[{devices: 1,", "[{devices: 2, profiles: {7g.80gb: 1}}, {devices: 1,"),
        (),
        f'{PLACE}147: the layouts of "g" cut 3 accelerators, and each of its nodes has 2  [partition-count]\n'
        "  at   spec.plannedNodes[0].partitions[1].devices\n"
        "  why  an accelerator has one layout (poolwright.dev/v1alpha1)\n"
        "  fix  lower devices, or raise devicesPerNode\n",
    ),
    "no-driver": (
        H100,
        (("name: dra-driver-nvidia-gpu, version: 0.5.0, install: chart", "name: x, version: 0.5.0, install: chart"),),
        f'{PLACE}42: "g" has NVIDIA accelerators, and stack "stack" no known release of their driver'
        "  [planned-driver]\n"
        "  at   spec.plannedNodes[0].hardwareModel\n"
        "  why  what is published depends on the driver's release; without a driver nothing is"
        " (poolwright.dev/v1alpha1)\n"
        "  fix  add the driver to the stack's draDrivers, or remove the nodes\n",
    ),
    "companion-of-no-driver": (
        WITH_NICS.replace("nic.example.com", "card.example.com"),
        (),
        f'{PLACE}108: no driver of stack "stack" publishes devices as card.example.com  [planned-driver]\n'
        "  at   spec.plannedNodes[0].companions[0].driver\n"
        "  why  companions are devices that a driver of the cluster publishes (poolwright.dev/v1alpha1)\n"
        "  fix  known: gpu.nvidia.com, nic.example.com\n",
    ),
    "companion-of-the-accelerators-driver": (
        WITH_NICS.replace("nic.example.com", GPU),
        (),
        f'{PLACE}108: the companions of "g" are of the accelerators\' own driver, gpu.nvidia.com  [planned-driver]\n'
        "  at   spec.plannedNodes[0].companions[0].driver\n"
        "  why  a driver publishes one pool per node, and what it is in is planned by hardwareModel"
        " (poolwright.dev/v1alpha1)\n"
        "  fix  name the other devices' driver, or add an entry to plannedNodes\n",
    ),
    "companion-with-a-root": (
        WITH_NICS.replace("rdma: true", "resource.kubernetes.io/pcieRoot: x"),
        (),
        f'{PLACE}138: "resource.kubernetes.io/pcieRoot" is said of a companion, which is on the PCIe root of its'
        " accelerator  [companion-attribute]\n"
        '  at   spec.plannedNodes[0].companions[0].attributes["resource.kubernetes.io/pcieRoot"]\n'
        "  why  companions are published with exactly these attributes (poolwright.dev/v1alpha1)\n"
        "  fix  remove it\n",
    ),
    "attribute-twice": (
        WITH_NICS.replace("rdma: true", "rdma: true, nic.example.com/rdma: false"),
        (),
        f'{PLACE}150: "nic.example.com/rdma" is the attribute "rdma" once more  [companion-attribute]\n'
        '  at   spec.plannedNodes[0].companions[0].attributes["nic.example.com/rdma"]\n'
        "  why  companions are published with exactly these attributes (poolwright.dev/v1alpha1)\n"
        "  fix  write it once\n",
    ),
    "too-many-attributes": (
        WITH_NICS.replace("rdma: true", ", ".join(f"a{n}: {n}" for n in range(32))),
        (),
        f"{PLACE}137: a companion has 33 attributes, its PCIe root included  [companion-attribute]\n"
        "  at   spec.plannedNodes[0].companions[0].attributes\n"
        "  why  companions are published with exactly these attributes (Kubernetes resource/v1 ResourceSlice)\n"
        "  fix  a device has at most 32: remove some\n",
    ),
    "more-partitions-than-a-slice-takes": (
        MIG_H100.replace("devicesPerNode: 2", "devicesPerNode: 20").replace(
            "{devices: 1, profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}", "{devices: 19, profiles: {1g.10gb: 7}}"
        ),
        (),
        f'{PLACE}7: a slice of a node of "g" would have 134 devices  [planned-limit]\n'
        "  at   spec.plannedNodes[0]\n"
        "  why  the driver publishes them together, and Kubernetes takes at most 128 in one: no device would be"
        " published (Kubernetes resource/v1 ResourceSlice)\n"
        "  fix  plan fewer accelerators or partitions per node\n",
    ),
    "lists-halve-the-slice": (
        MIG_H100.replace("devicesPerNode: 2", "devicesPerNode: 10").replace(
            "{devices: 1, profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}", "{devices: 10, profiles: {1g.10gb: 7}}"
        ),
        (gates("DRAListTypeAttributes"),),
        f'{PLACE}7: a slice of a node of "g" would have 70 devices  [planned-limit]\n'
        "  at   spec.plannedNodes[0]\n"
        "  why  the driver publishes them together, and Kubernetes takes at most 64 in one that has counters or lists"
        " as attributes: no device would be published (Kubernetes resource/v1 ResourceSlice)\n"
        "  fix  plan fewer accelerators or partitions per node\n",
    ),
    "more-counter-sets-than-a-slice-takes": (
        H100.replace("devicesPerNode: 2", "devicesPerNode: 9"),
        (gates("DynamicMIG"),),
        f'{PLACE}7: a slice of a node of "g" would have 9 counter sets  [planned-limit]\n'
        "  at   spec.plannedNodes[0]\n"
        "  why  the driver publishes them together, and Kubernetes takes at most 8 in one: no device would be"
        " published (Kubernetes resource/v1 ResourceSlice)\n"
        "  fix  plan fewer accelerators or partitions per node\n",
    ),
}


@pytest.mark.parametrize(("entry", "changes", "says"), SAID.values(), ids=SAID)
def test_what_is_said(entry: str, changes: tuple[Change, ...], says: str) -> None:
    assert say(entry, *changes) == says


FITS = {
    "128-devices": MIG_H100.replace("devicesPerNode: 2", "devicesPerNode: 20").replace(
        "{devices: 1, profiles: {3g.40gb: 1, 2g.20gb: 1, 1g.10gb: 2}}", "{devices: 18, profiles: {1g.10gb: 7}}"
    ),
    "all-cut": MIG_H100.replace("devices: 1,", "devices: 2,"),
    "many-companions": WITH_NICS.replace("attributes:", "perDevice: 16, attributes:").replace("Node: 2", "Node: 64"),
}


@pytest.mark.parametrize("entry", FITS.values(), ids=FITS)
def test_nothing_is_said(entry: str) -> None:
    assert say(entry) == ""


def test_one_name_in_two_pools_of_a_cluster() -> None:
    other = POOL.replace("{name: pool,", "{name: other,")
    assert NODES in other
    same, elsewhere = read_project(more=other), read_project(more=other.replace("Name: east", "Name: west"))
    assert render_text(check_planned_names(same.pools)) == (
        'specs/pool.yaml:9:14: the planned nodes "h100" of cluster "east" exists already, at specs/more.yaml:9:14'
        "  [duplicate-name]\n"
        "  at   spec.plannedNodes[0].name\n"
        "  why  a name stands for one thing, so that every reference and every finding is about that one"
        " (poolwright.dev/v1alpha1)\n"
        "  fix  rename or remove one of the two\n"
    )
    assert check_planned_names(elsewhere.pools) == []
