"""The node and the ResourceSlices of a random case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from random_draw import Draw, Json

BuildSlice = Callable[..., Json]  # of a placement and what is to stand beside it in `spec`

NODE: Final = "n1"
OTHER_NODE: Final = "n2"
POOLS: Final = ("p1", "p2", "p10", "rack/7")
SETS: Final = {"cs0": ("mem", "sm"), "cs1": ("mem",)}
SELECTORS: Final[tuple[Json, ...]] = (
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["c"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["b", "c"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "Exists"}, {"key": "spot", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "spot", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]},
    {"matchExpressions": [{"key": "cores", "operator": "Lt", "values": ["8"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": [NODE]}]},
    {
        "matchExpressions": [{"key": "zone", "operator": "In", "values": ["b", "a"]}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": [NODE]}],
    },
)
MEMORY_POLICIES: Final[tuple[Json, ...]] = (
    {"default": "1Gi", "validRange": {"min": "1Gi"}},
    {"default": "2Gi", "validRange": {"min": "1Gi", "max": "6Gi", "step": "1Gi"}},
    {"default": "512Mi", "validRange": {"min": "256Mi", "max": "4Gi", "step": "256Mi"}},
    {"default": "1M", "validRange": {"min": "1M", "step": "1M"}},
    {"default": "2Gi", "validValues": ["1Gi", "2Gi", "4Gi"]},
    {"default": "0", "validValues": ["0", "2Gi"]},
    {"default": "0", "validRange": {"min": "0", "step": "1Gi"}},
    {"default": "2Gi"},
)
SLOT_POLICIES: Final[tuple[Json, ...]] = (
    {"default": "1", "validRange": {"min": "1", "max": "3", "step": "1"}},
    {"default": "1", "validRange": {"min": "1", "max": "2"}},
    {"default": "500m", "validRange": {"min": "250m", "max": "2", "step": "250m"}},
    {"default": "1500m", "validRange": {"min": "500m", "step": "500m"}},
    {"default": "100u", "validRange": {"min": "100u", "max": "1", "step": "100u"}},
    {"default": "1", "validValues": ["1", "2500m"]},
    {"default": "1"},
)


def build_node(draw: Draw) -> Json:
    node: Json = {"metadata": {"name": NODE, "labels": {"cores": "16", "zone": "a"}}, "status": {}}
    if draw.key >= 37 and draw.about("node-operations", at_most=0.8, at_least=0.2):
        node["status"]["declaredFeatures"] = ["DRAOptionalNodeOperations", "GuaranteedQoSPodCPUResize"]
    return node


def build_slices(draw: Draw) -> list[Json]:
    """The slices of one to three pools, in no particular order."""
    pools = [(driver, name) for driver in draw.drivers for name in POOLS]
    chosen = [draw.pick([pool for pool in pools if pool[0] == driver]) for driver in draw.drivers]
    if "tight" not in draw.themes:
        others = [pool for pool in pools if pool not in chosen]
        chosen += draw.rng.sample(others, draw.pick((0, 1, 1, 2)) if len(chosen) == 1 else draw.pick((0, 0, 1)))
    slices = [made for driver, name in chosen for made in _build_pool(draw, driver, name)]
    draw.rng.shuffle(slices)
    return slices


def _build_pool(draw: Draw, driver: str, name: str) -> list[Json]:
    generation = draw.rng.randint(1, 3)
    suffixes = draw.rng.sample(("a", "b", "k", "x", "z", "10", "9"), 7)

    def build_slice(place: Json, **content: object) -> Json:
        spec = {"driver": driver, "pool": {"name": name, "generation": generation, "resourceSliceCount": 0}}
        slice_name = f"{driver.split('.')[0]}-{name.replace('/', '-')}-{suffixes.pop()}"
        return {"metadata": {"name": slice_name}, "spec": {**spec, **place, **content}}

    sets = _build_counter_sets(draw) if draw.used["partitionable_devices"] and draw.about("counters") else {}
    places = [_build_place(draw) for _ in range(1 if draw.is_large else draw.pick((1, 1, 2, 2, 3)))]
    slices, number = [], 0
    for place in places:
        count = 40 if draw.is_large else draw.pick((1, 2, 2, 3, 4, 5))
        devices = [_build_device(draw, driver, number + at, place, sets) for at in range(count)]
        number += count
        slices.append(build_slice(place, devices=devices))
        if draw.key >= 37 and draw.used["optional_node_operations"] and draw.about("node-operations", at_least=0.1):
            slices[-1]["spec"]["skipNodeOperations"] = draw.pick(
                (["*"], ["NodeUnprepareResources"], ["NodePrepareResources", "NodeUnprepareResources"])
            )
    if sets:
        _publish_counter_sets(draw, sets, slices, build_slice)
        if places[-1] == {"nodeName": OTHER_NODE} and draw.chance(0.15):
            consumption = {"counterSet": "cs0", "counters": {"watts": {"value": "1"}}}
            slices[len(places) - 1]["spec"]["devices"][0]["consumesCounters"] = [consumption]
    for made in slices:
        made["spec"]["pool"]["resourceSliceCount"] = len(slices)
    if draw.about("pools", at_least=0.02):
        _damage_pool(draw, slices, build_slice)
    return slices


def _build_place(draw: Draw) -> Json:
    if not draw.about("placement"):
        return {"nodeName": NODE}
    kind = draw.pick(("node", "other", "all", "selector", "selector", "selector", "device"))
    if kind == "selector":
        return {"nodeSelector": {"nodeSelectorTerms": [draw.pick(SELECTORS)]}}
    if kind == "device" and draw.used["partitionable_devices"]:
        return {"perDeviceNodeSelection": True}
    return {"allNodes": True} if kind == "all" else {"nodeName": OTHER_NODE if kind == "other" else NODE}


def _build_device(draw: Draw, driver: str, number: int, place: Json, sets: Json) -> Json:
    device: Json = {"name": f"d{number}", "attributes": _build_attributes(draw, number)}
    shareable = draw.used["consumable_capacity"] and draw.about("shares", at_least=0.08)
    if shareable:
        device["allowMultipleAllocations"] = draw.chance(0.9)
    if draw.chance(0.85):
        device["capacity"] = _build_capacity(draw, driver, shareable and device["allowMultipleAllocations"])
    if sets and draw.chance(0.85):
        device["consumesCounters"] = _build_consumption(draw, sets)
    if place.get("perDeviceNodeSelection"):
        own = _build_place(draw)
        device |= {"allNodes": True} if own.get("perDeviceNodeSelection") else own
    if draw.used["device_taints"] and draw.about("taints", at_most=0.45):
        device["taints"] = _build_taints(draw)
    if draw.used["binding_conditions"] and draw.about("binding", at_most=0.45):
        device["bindingConditions"] = ["attached", "cabled"][: draw.rng.randint(1, 2)]
        if draw.chance(0.5):
            device["bindingFailureConditions"] = ["broken"]
    if draw.used["binding_conditions"] and draw.about("binding", at_most=0.3):
        device["bindsToNode"] = draw.chance(0.8)
    return device


def _build_attributes(draw: Draw, number: int) -> Json:
    attributes: Json = {
        "model": {"string": draw.pick(("a", "a", "b"))},
        "index": {"int": number // 2},
        "healthy": {"bool": draw.chance(0.7)},
        "firmware": {"version": draw.pick(("1.0.0", "1.2.0", "1.2.0+x"))},
        "example.com/rack": {"string": draw.pick(("r1", "r2"))},
    }
    if draw.key >= 36 and draw.used["list_type_attributes"] and draw.about("lists"):
        attributes["nics"] = {"strings": draw.some(("eth0", "eth1", "eth2"))}
        attributes["index"] = {"ints": draw.some((0, 1, 2, 3))} if draw.chance(0.5) else attributes["index"]
        if draw.chance(0.3):
            attributes["healthy"] = {"bools": draw.some((True, False))}
        if draw.chance(0.3):
            attributes["firmware"] = {"versions": draw.some(("1.0.0", "1.2.0", "2.0.0"))}
    gone = 0.3 if "selectors" in draw.themes else 0.03
    return {name: value for name, value in attributes.items() if not draw.chance(gone)}


def _build_capacity(draw: Draw, driver: str, shared: bool) -> Json:
    memory: Json = {"value": draw.pick(("8Gi", "8Gi", "16Gi", "10Gi"))}
    slots: Json = {"value": draw.pick(("4", "10", "2500m"))}
    if shared and draw.chance(0.75):
        memory["requestPolicy"] = draw.pick(MEMORY_POLICIES)
    if shared and draw.chance(0.75):
        slots["requestPolicy"] = draw.pick(SLOT_POLICIES)
    name = f"{driver}/memory" if draw.chance(0.06) else "memory"
    return {name: memory, "slots": slots} if draw.chance(0.5) else {name: memory}


def _build_taints(draw: Draw) -> list[Json]:
    taints = []
    for key in draw.some(("maintenance", "slow")):
        taint = {"key": key, "effect": draw.pick(("NoSchedule", "NoSchedule", "NoExecute", "None"))}
        if draw.chance(0.5):
            taint["value"] = draw.pick(("yes", "maybe"))
        if draw.key == 34 and taint["effect"] == "None":
            taint["effect"] = "NoSchedule"  # 1.34 has no None
        taints.append(taint)
    return taints


def _build_counter_sets(draw: Draw) -> Json:
    names = ("cs0",) if draw.chance(0.6) else ("cs0", "cs1")
    return {name: {counter: draw.pick(("4", "8", "6")) for counter in SETS[name]} for name in names}


def _build_consumption(draw: Draw, sets: Json) -> list[Json]:
    consumption: list[Json] = []
    for name in draw.some(tuple(sets)):
        counters = {counter: {"value": draw.pick(("1", "2", "2", "3", "4500m"))} for counter in draw.some(SETS[name])}
        consumption.append({"counterSet": name, "counters": counters})
        if draw.key >= 37 and draw.used["compatibility_groups"] and draw.about("groups"):
            consumption[-1]["compatibilityGroups"] = draw.some(("mig", "vgpu", "time"))
    if draw.about("oddities", at_most=0.1, at_least=0.02):
        consumption[0]["counterSet"] = "cs9"
    elif draw.about("oddities", at_most=0.1, at_least=0.02):
        consumption[0]["counters"] = {"watts": {"value": "1"}}
    return consumption


def _publish_counter_sets(draw: Draw, sets: Json, slices: list[Json], build_slice: BuildSlice) -> None:
    published = [
        {"name": name, "counters": {key: {"value": value} for key, value in counters.items()}}
        for name, counters in sets.items()
    ]
    if draw.key == 34 and draw.chance(0.8):  # 1.34's layout: beside the devices that consume them
        for made in slices:
            made["spec"]["sharedCounters"] = published
        return
    place = {"nodeName": NODE}
    if draw.about("placement", at_least=0.1):
        place = draw.pick(({"nodeName": OTHER_NODE}, {"allNodes": True}, {"perDeviceNodeSelection": True}))
    if len(published) > 1 and draw.chance(0.5):
        slices.append(build_slice(place, sharedCounters=published[1:]))
        published = published[:1]
    slices.append(build_slice(place, sharedCounters=published))
    if draw.about("oddities", at_most=0.15, at_least=0.02):
        slices.append(build_slice(place, sharedCounters=published))


def _damage_pool(draw: Draw, slices: list[Json], build_slice: BuildSlice) -> None:
    """Make a pool incomplete, obsolete, contradictory, or half replaced."""
    with_devices = [made for made in slices if "devices" in made["spec"]]
    kind = draw.pick(
        ("incomplete", "surplus", "names", "names", "older", "older", "newer", "newer-elsewhere", "nowhere")
    )
    if kind in ("incomplete", "surplus"):
        change = 1 if kind == "incomplete" or len(slices) == 1 else -1
        for made in slices:
            made["spec"]["pool"]["resourceSliceCount"] += change
    elif kind == "nowhere":  # of a kind of placement that isn't known yet
        for field in ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"):
            slices[-1]["spec"].pop(field, None)
    elif kind == "names":
        first, last = with_devices[0]["spec"]["devices"], with_devices[-1]["spec"]["devices"]
        last[-1]["name"] = first[0]["name"]
    else:
        place = {"nodeName": OTHER_NODE if kind == "newer-elsewhere" or draw.chance(0.3) else NODE}
        devices = [{"name": "d0"}, {"name": "d9", "attributes": {"model": {"string": "a"}}}]
        other = build_slice(place, devices=devices)
        pool = slices[0]["spec"]["pool"]
        other["spec"]["pool"] = {**pool, "generation": pool["generation"] + (-1 if kind == "older" else 1)}
        if draw.chance(0.5):
            other["spec"]["pool"]["resourceSliceCount"] = 1
        slices.append(other)
