"""Small clusters, each for one question that people ask; what is answered stands in test_cases.py."""

from __future__ import annotations

from given_cluster import (
    ANY,
    GPU,
    NETWORK,
    NIC,
    WHOLE,
    Json,
    ask,
    build,
    claim,
    device,
    device_class,
    exactly,
    gpu,
    holds,
    pod,
    slice_of,
)

ROOT = "resource.kubernetes.io/pcieRoot"
MIG = device_class("mig.nvidia.com", f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'mig'")
CARD = device_class("card.example.com", f"device.driver == '{GPU}'")


# --- a GPU and an RDMA card on one PCIe root; pci0000:15 alone has both ---


def build_pairs(*, constraint: bool = True, rdma: bool = True) -> list[Json]:
    gpus = [gpu(n, of={ROOT: root}) for n, root in enumerate(("pci0000:15", "pci0000:37", "pci0000:48", "pci0000:59"))]
    nics = [
        device(name, attributes={"ifName": name, "rdma": is_rdma, ROOT: root})
        for name, is_rdma, root in (
            ("eth1", True, "pci0000:15"),
            ("eth2", False, "pci0000:48"),
            ("eth3", True, "pci0000:97"),
        )
    ]
    nic = exactly("nic", "dranet", *([f'device.attributes["{NIC}"].rdma == true'] if rdma else []))
    match = [{"requests": ["gpu", "nic"], "matchAttribute": ROOT}] if constraint else []
    claims = [claim(f"vllm-rdma-{n}", exactly("gpu"), nic, constraints=match) for n in range(3)]
    return [WHOLE, NETWORK, slice_of("node-a", *gpus), slice_of("node-a", *nics, driver=NIC), *claims]


# --- four partitions of one parent; the first parent lacks one ---


def mig(profile: str, *, name: str = "mig") -> Json:
    return exactly(name, "mig.nvidia.com", f"device.attributes['{GPU}'].profile == '{profile}'")


def build_same_parent() -> list[Json]:
    profiles = {"19-0": "1g.5gb", "19-1": "1g.5gb", "14-2": "2g.10gb", "9-4": "3g.20gb"}
    partitions = [
        device(f"gpu-{n}-mig-{at}", attributes={"type": "mig", "profile": profile, "parentUUID": f"GPU-{n}"})
        for n in range(2)
        for at, profile in profiles.items()
        if (n, at) != (0, "14-2")
    ]
    asked = {"small-0": "1g.5gb", "small-1": "1g.5gb", "mid": "2g.10gb", "big": "3g.20gb"}
    requests = [mig(profile, name=name) for name, profile in asked.items()]
    same = [{"matchAttribute": f"{GPU}/parentUUID"}]
    return [MIG, slice_of("node-a", *partitions), claim("mig-set", *requests, constraints=same)]


# --- partitions that take from one card's counters; memory slices 0, 1 and 5 are held ---

# Profile: name in a device, memory, processors, memory slices it takes, where it may start.
PARTITIONS = {
    "1g.10gb": ("1g10gb-19", "9984Mi", "16", 1, (0, 1, 2, 3, 4, 5, 6)),
    "2g.20gb": ("2g20gb-14", "20096Mi", "32", 2, (0, 2, 4)),
    "3g.40gb": ("3g40gb-9", "40448Mi", "60", 4, (0, 4)),
    "4g.40gb": ("4g40gb-5", "40448Mi", "64", 4, (0,)),
}


def take(memory: str, processors: str, slices: range) -> Json:
    taken = {"memory": memory, "multiprocessors": processors, **{f"memory-slice-{n}": "1" for n in slices}}
    return {name: {"value": amount} for name, amount in taken.items()}


def build_fragmented() -> list[Json]:
    whole = {"counterSet": "gpu-0-counter-set", "counters": take("81152Mi", "132", range(8))}
    found = [gpu(0, consumesCounters=[whole])]
    for profile, (name, memory, processors, width, starts) in PARTITIONS.items():
        for start in starts:
            counters = take(memory, processors, range(start, start + width))
            found.append(
                device(
                    f"gpu-0-mig-{name}-{start}",
                    attributes={"type": "mig", "profile": profile, "parentUUID": "GPU-0000"},
                    memory=memory,
                    consumesCounters=[{"counterSet": "gpu-0-counter-set", "counters": counters}],
                )
            )
    sets = [{"name": "gpu-0-counter-set", "counters": take("81152Mi", "132", range(8))}]
    held = [
        claim(f"held-{n}", mig("1g.10gb"), held=[holds(f"gpu-0-mig-1g10gb-19-{n}", request="mig")]) for n in (0, 1, 5)
    ]
    return [
        WHOLE,
        MIG,
        slice_of("node-a", name="node-a-counters", count=2, sharedCounters=sets),
        slice_of("node-a", *found, name="node-a-devices", count=2),
        *held,
    ]


def build_fragmented_asked() -> list[Json]:
    asked = {"want-3g": "3g.40gb", "want-4g": "4g.40gb", "want-2g": "2g.20gb", "want-1g": "1g.10gb"}
    wants = [claim(name, mig(profile)) for name, profile in asked.items()]
    return [*build_fragmented(), *wants, claim("want-whole", exactly("gpu"))]


def build_fragmented_two(*, same_pod: bool) -> list[Json]:
    two = [claim("a-small", mig("1g.10gb")), claim("b-mid", mig("2g.20gb"))]
    one_pod = pod("both", claims={"small": "a-small", "mid": "b-mid"})
    pods = [pod("a", claims={"gpu": "a-small"}), pod("b", claims={"gpu": "b-mid"})]
    return [*build_fragmented(), *two, *([one_pod] if same_pod else pods)]


# --- a tainted half of a card is looked at first ---


def build_tainted_half() -> list[Json]:
    takes = [{"counterSet": "card", "counters": {"half": {"value": "1"}}}]
    taint = [{"key": "gpu.nvidia.com/unhealthy", "effect": "NoSchedule"}]
    halves = [
        device("half-1", attributes={"type": "mig"}, consumesCounters=takes, taints=taint),
        device("half-2", attributes={"type": "mig"}, consumesCounters=takes),
    ]
    sets = [{"name": "card", "counters": {"half": {"value": "1"}}}]
    return [
        CARD,
        slice_of("node-a", name="node-a-counters", count=2, sharedCounters=sets),
        slice_of("node-a", *halves, name="node-a-devices", count=2),
        claim("one-half", exactly("card", "card.example.com")),
    ]


# --- three devices, no two of one NUMA node ---


def build_spread() -> list[Json]:
    found = [device(f"dev{n}", attributes={"numa": numa}) for n, numa in ((1, 1), (2, 2), (3, 1), (4, 3))]
    distinct = [{"requests": ["d"], "distinctAttribute": f"{GPU}/numa"}]
    asked = exactly("d", "card.example.com", count=3)
    return [CARD, slice_of("node-a", *found), claim("spread", asked, constraints=distinct)]


# --- every B200, else two H100 ---


def build_all_or_two() -> list[Json]:
    products = ("NVIDIA B200", "NVIDIA B200", "NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3")
    product = f"device.attributes['{GPU}'].productName"
    every, some = f"{product} == 'NVIDIA B{{}}'", f"{product}.startsWith('NVIDIA H100')"

    def first(name: str, model: str, count: int) -> Json:
        alternatives = [
            {"name": f"every-b{model}", **ask(GPU, every.format(model), allocationMode="All")},
            {"name": f"{'one' if count == 1 else 'two'}-h100", **ask(GPU, some, count=count)},
        ]
        return claim(name, {"name": "gpu", "firstAvailable": alternatives})

    return [
        WHOLE,
        slice_of("node-a", *(gpu(n, product=one) for n, one in enumerate(products))),
        claim("held", exactly("g"), held=[holds("gpu-0", request="g")]),
        first("all-or-two", "200", 2),
        first("none-then-one", "300", 1),
    ]


# --- one of node-a's two slices is there ---


def build_incomplete() -> list[Json]:
    return [
        WHOLE,
        slice_of("node-a", gpu(0), gpu(1), count=2),
        slice_of("node-b", gpu(0), gpu(1)),
        claim("exact-one", exactly("g")),
        claim("every-gpu", exactly("g", allocationMode="All")),
    ]


# --- one name for two devices ---


def build_repeated_name() -> list[Json]:
    return [
        WHOLE,
        NETWORK,
        slice_of("node-a", gpu(0), gpu(1), name="node-a-1", count=2),
        slice_of("node-a", gpu(1), name="node-a-2", count=2),
        slice_of("node-a", device("eth1", attributes={"rdma": True}), driver=NIC),
        claim("one-gpu", exactly("g")),
        claim("one-nic", exactly("n", "dranet")),
    ]


def build_shared_name() -> list[Json]:
    slices = [
        slice_of(f"node-{letter}", device("eth0", attributes={"rdma": True}), driver=NIC, pool="fast", count=2)
        for letter in "ab"
    ]
    return [NETWORK, *slices, claim("first", exactly("n", "dranet")), claim("second", exactly("n", "dranet"))]


# --- selectors on an attribute that only partitions have ---


def build_missing_attribute() -> list[Json]:
    at = f"device.attributes['{GPU}']"
    whole = gpu(0)
    one, other = (
        device(f"gpu-{n}-mig-9-0", attributes={"type": "mig", "profile": "3g.40gb", "parentUUID": f"GPU-{n}"})
        for n in (1, 0)
    )
    selectors = {
        "unguarded": f"{at}.profile == '3g.40gb'",
        "guarded": f"'profile' in {at} && {at}.profile == '3g.40gb'",
        "optional": f"{at}.?profile.orValue('') == '3g.40gb'",
        "wrong-domain": "device.attributes['resource.nvidia.com'].productName == 'NVIDIA H100 80GB HBM3'",
    }
    claims = [claim(name, exactly("g", "any", text)) for name, text in selectors.items()]
    return [ANY, slice_of("node-a", whole, one), slice_of("node-b", other), *claims]


# --- an 80 GB card has 81559Mi ---


def build_amounts() -> list[Json]:
    memory = f"device.capacity['{GPU}'].memory"
    asked = {
        "ge-80gi": "compareTo(quantity('80Gi')) >= 0",
        "ge-79gi": "compareTo(quantity('79Gi')) >= 0",
        "ge-80g-decimal": "compareTo(quantity('80G')) >= 0",
        "eq-81559mi": "compareTo(quantity('81559Mi')) == 0",
        "eq-bytes": "compareTo(quantity('85520809984')) == 0",
        "eq-fraction": "compareTo(quantity('79.6474609375Gi')) == 0",
        "ge-85e9": "compareTo(quantity('85e9')) >= 0",
        "lt-81560mi": "isLessThan(quantity('81560Mi'))",
    }
    claims = [claim(name, exactly("g", GPU, f"{memory}.{text}")) for name, text in asked.items()]
    return [WHOLE, slice_of("node-a", gpu(0)), *claims]


# --- a taint that one claim tolerates for ten minutes ---


def build_tolerated() -> list[Json]:
    first = f"device.attributes['{GPU}'].uuid == 'GPU-0000'"
    warned = [{"key": "gpu.nvidia.com/ecc", "value": "warn", "effect": "NoExecute"}]
    noted = [{"key": "gpu.nvidia.com/note", "effect": "None"}]
    for_a_while = {**warned[0], "operator": "Equal", "tolerationSeconds": 600}
    other_effect = {"key": "gpu.nvidia.com/ecc", "operator": "Exists", "effect": "NoSchedule"}
    return [
        WHOLE,
        slice_of("node-a", gpu(0, taints=warned), gpu(1, taints=noted)),
        claim("brave", exactly("g", GPU, first, tolerations=[for_a_while])),
        claim("careful", exactly("g")),
        claim("wrong-effect", exactly("g", GPU, first, tolerations=[other_effect])),
    ]


# --- admin access, in three namespaces ---


def build_admin() -> list[Json]:
    labels = {
        "gpu-admin": {"resource.kubernetes.io/admin-access": "true"},
        "team-a": {"resource.kubernetes.io/admin-access": "True"},
        "team-b": {"resource.k8s.io/admin-access": "true"},
    }
    namespaces = [build("Namespace", name, spec={}, api="v1", labels=found) for name, found in labels.items()]
    monitor = exactly("g", allocationMode="All", adminAccess=True)
    return [
        *namespaces,
        WHOLE,
        slice_of("node-a", gpu(0), gpu(1)),
        claim("tenant", exactly("g"), held=[holds("gpu-0", request="g")]),
        claim("monitor-ok", monitor, namespace="gpu-admin"),
        claim("monitor-case", monitor, namespace="team-a"),
        claim("monitor-oldlabel", monitor, namespace="team-b"),
        claim("tenant-2", exactly("g"), namespace="team-a"),
        claim("tenant-3", exactly("g"), namespace="team-a"),
    ]


# --- fabric partitions of two and of four; gpu-1 is held ---


def build_fabric() -> list[Json]:
    gpus = [gpu(n, of={"gpuModuleID": n + 1, "partition2": n // 2 + 1, "partition4": 7}) for n in range(4)]

    def match(attribute: str) -> list[Json]:
        return [{"requests": ["g"], "matchAttribute": f"{GPU}/{attribute}"}]

    return [
        WHOLE,
        slice_of("node-a", *gpus),
        claim("held", exactly("g"), held=[holds("gpu-1", request="g")]),
        claim("aligned", exactly("g", count=2), constraints=match("partition2")),
        claim("loose", exactly("g", count=2)),
        claim("wrong-size", exactly("g", count=3), constraints=match("partition4")),
    ]


# --- shares of a card in steps of 2Gi; 74 of 80Gi are held ---


def build_shares() -> list[Json]:
    steps = {"default": "2Gi", "validRange": {"min": "2Gi", "max": "80Gi", "step": "2Gi"}}
    card = device(
        "gpu-0",
        attributes={"type": "gpu"},
        allowMultipleAllocations=True,
        capacity={"memory": {"value": "80Gi", "requestPolicy": steps}},
    )

    def want(name: str, memory: str) -> Json:
        return claim(name, exactly("g", **({"capacity": {"requests": {"memory": memory}}} if memory else {})))

    share = holds(
        "gpu-0", request="g", shareID="00000000-0000-0000-0000-00000000000a", consumedCapacity={"memory": "74Gi"}
    )
    asked = {"want-3": "3Gi", "want-7": "7Gi", "want-1": "1Gi", "want-nothing": "", "want-81": "81Gi", "want-6": "6Gi"}
    return [
        WHOLE,
        slice_of("node-a", card),
        claim("held", exactly("g", capacity={"requests": {"memory": "74Gi"}}), held=[share]),
        *(want(name, memory) for name, memory in asked.items()),
    ]
