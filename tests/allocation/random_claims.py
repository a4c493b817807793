"""The classes and claims of a random case."""

from __future__ import annotations

from typing import Final

from random_draw import Draw, Json

ATTRIBUTES: Final = ("model", "index", "healthy", "firmware", "nics", "numa")
MEMORY: Final = ("1Gi", "2Gi", "2Gi", "3Gi", "1500M", "1", "8Gi")
SLOTS: Final = ("1", "1", "2", "750m", "1250m")
MOST_RESULTS: Final = 32  # devices that a claim may get
MOST_DEVICES: Final = 6  # that all claims of a case ask for by number, roughly
# Claims that come near 32 devices or pass them: by claim, by request, the counts of the alternatives; 0 means All.
LARGE: Final[tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]] = (
    (((0,),),),
    (((32,),),),
    (((33, 1),),),
    (((0, 1),),),
    (((0, 0, 2),), ((1,),)),
    (((16,), (16,)),),
    (((20, 10), (20, 15)),),
    (((17,), (16, 15)), ((1,),)),
    (((20, 10), (20, 10), (2,)),),
    (((31,), (2, 1), (1,)),),
    (((16,),), ((16, 8), (20, 16))),
    (((30,), (3, 2), (2, 1)), ((7,),)),
    (((2, 1), (31,)),),
)
ODD_MEMORY: Final = ("0", "20Gi", "-1Gi", "1500k", "8Ei", "9223372036854775807")
ODD_SLOTS: Final = ("0", "100", "-1", "150u", "8Ei", "9223372036854775807m")
TOLERATIONS: Final[tuple[Json, ...]] = (
    {"operator": "Exists"},
    {"operator": "Exists", "effect": "NoSchedule"},
    {"key": "maintenance", "operator": "Exists"},
    {"key": "maintenance", "operator": "Equal", "value": "yes", "effect": "NoSchedule"},
    {"key": "slow", "operator": "Equal"},
    {"key": "slow", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
)


def build_classes(draw: Draw) -> list[Json]:
    """One class per driver, one for everything, and one that is picky."""
    classes = [
        *((driver.split(".")[0], [f'device.driver == "{driver}"']) for driver in draw.drivers),
        ("any", []),
        ("picky", [_build_selector(draw)]),
    ]
    built = []
    for name, selectors in classes:
        spec: Json = {"selectors": [{"cel": {"expression": text}} for text in selectors]}
        if draw.about("configs", at_most=0.8, at_least=0.1):
            spec["config"] = [_build_config(draw, at) for at in range(draw.rng.randint(1, 2))]
        built.append({"metadata": {"name": name}, "spec": spec})
    return built


def build_claims(draw: Draw) -> list[Json]:
    """One to three claims of one to three requests, rarely of none."""
    if draw.is_large:
        return _build_large_claims(draw)
    claims = []
    for at in range(draw.pick((1, 1, 1, 2, 2, 3))):
        count = draw.pick((1, 1, 1, 2, 2, 3)) if draw.chance(0.99) else 0
        requests = [_build_request(draw, f"r{index}") for index in range(count)]
        names = [request["name"] for request in requests]
        names += [
            f"{request['name']}/{one['name']}" for request in requests for one in request.get("firstAvailable", ())
        ]
        devices: Json = {"requests": requests}
        if names and draw.about("constraints", at_most=0.8, at_least=0.1):
            devices["constraints"] = [_build_constraint(draw, names) for _ in range(draw.pick((1, 1, 2)))]
        if draw.key >= 37 and draw.used["derived_attributes"] and draw.about("constraints", at_least=0.2):
            _derive_attributes(draw, devices)
        if names and draw.about("configs", at_most=0.8, at_least=0.1):
            devices["config"] = [_build_claim_config(draw, names, at) for at in range(draw.rng.randint(1, 3))]
        claims.append({"metadata": {"name": f"claim-{at}", "namespace": "default"}, "spec": {"devices": devices}})
    _limit_search(claims)
    return claims


def _limit_search(claims: list[Json]) -> None:
    """Lower counts until no search takes for ever: it grows with the devices tried for all requests together."""
    left = MOST_DEVICES
    for at, claim in enumerate(claims):
        if left < 0:
            del claims[at:]
            return
        for request in claim["spec"]["devices"]["requests"]:
            wanted = request.get("firstAvailable", (request.get("exactly"),))
            for one in wanted:
                if one["count"] <= MOST_RESULTS:
                    one["count"] = min(one["count"], max(left, 1))
            left -= max(min(one["count"], MOST_RESULTS) for one in wanted) + len(wanted) - 1


def _build_large_claims(draw: Draw) -> list[Json]:
    claims = []
    for at, counts in enumerate(draw.pick(LARGE)):
        requests: list[Json] = []
        for index, options in enumerate(counts):
            wanted = [
                {"deviceClassName": "gpu", "allocationMode": "ExactCount" if count else "All", "count": count}
                for count in options
            ]
            name = f"r{index}"
            alternatives = [{"name": f"s{number}", **one} for number, one in enumerate(wanted)]
            requests.append(
                {"name": name, "firstAvailable": alternatives}
                if len(wanted) > 1
                else {"name": name, "exactly": wanted[0]}
            )
        claims.append({"metadata": {"name": f"claim-{at}"}, "spec": {"devices": {"requests": requests}}})
    return claims


def _build_request(draw: Draw, name: str) -> Json:
    if draw.used["prioritized_list"] and draw.about("alternatives", at_least=0.1):
        options = draw.rng.randint(1, 3)
        wanted = [{"name": f"s{at}", **_build_wanted(draw, picky=at + 1 < options)} for at in range(options)]
        return {"name": name, "firstAvailable": wanted}
    wanted = _build_wanted(draw, picky=False)
    if draw.used["admin_access"] and draw.about("admin"):
        wanted["adminAccess"] = draw.chance(0.85)
    return {"name": name, "exactly": wanted}


def _build_wanted(draw: Draw, *, picky: bool) -> Json:
    """What a request and an alternative have in common."""
    own = [driver.split(".")[0] for driver in draw.drivers]
    name = draw.pick(own) if draw.chance(0.75) else draw.pick(("any", "any", "any", "picky"))
    if draw.about("oddities", at_most=0.05):
        name = draw.pick(("gone", "gone", ""))
    wanted: Json = {"deviceClassName": name, "allocationMode": "ExactCount", "count": draw.pick((1, 1, 1, 1, 2, 2, 3))}
    if draw.about("all", at_most=0.3):
        wanted |= {"allocationMode": "All", "count": 0}
    elif draw.about("limits", at_most=0.3, at_least=0.01):
        wanted["count"] = draw.pick((4, 4, 5, 6, 6, 33))
    if draw.about("oddities", at_most=0.012):
        wanted["allocationMode"] = "Some"
    if draw.about("selectors", at_least=0.1) or (picky and draw.chance(0.3)):
        wanted["selectors"] = [{"cel": {"expression": _build_selector(draw)}} for _ in range(draw.pick((1, 1, 2)))]
        if draw.about("oddities", at_most=0.1):
            wanted["selectors"][-1] = {}
    if draw.used["device_taints"] and draw.about("taints", at_most=0.5):
        wanted["tolerations"] = draw.some(TOLERATIONS)[:2]
    if draw.used["consumable_capacity"] and draw.about("shares", at_most=0.6, at_least=0.2):
        wanted["capacity"] = {"requests": _build_capacity_requests(draw)}
    return wanted


def _build_capacity_requests(draw: Draw) -> Json:
    odd = draw.about("odd-capacity", at_most=0.7, at_least=0.15)
    requests = {"memory": draw.pick(ODD_MEMORY if odd else MEMORY)}
    if draw.chance(0.25):
        requests["slots"] = draw.pick(ODD_SLOTS if odd else SLOTS)
        if draw.chance(0.4):
            del requests["memory"]
    if draw.about("odd-capacity", at_most=0.35):
        requests[draw.pick(("bandwidth", "gpu.example.com/memory"))] = "1"
    return requests


def _build_selector(draw: Draw) -> str:
    domain = draw.pick(draw.drivers)
    attributes, capacity = f'device.attributes["{domain}"]', f'device.capacity["{domain}"]'
    rack = 'device.attributes["example.com"].?rack.orValue("")'
    if draw.about("oddities", at_most=0.12, at_least=0.02):
        return draw.pick(("device.nope == 1", "1 + 1", f"{attributes}.model = 'a'", f"{capacity}.memory > 1"))
    if draw.about("selectors", at_most=0.16, at_least=0.02):  # errors where something is missing or of another type
        return draw.pick(
            (
                f'{attributes}.model == "a"',
                f"{attributes}.index < 2",
                f'{attributes}.firmware.isGreaterThan(semver("1.1.0"))',
                f"{attributes}.healthy",
                f'{capacity}.memory.compareTo(quantity("8Gi")) >= 0',
                f'{capacity}.slots.isGreaterThan(quantity("3"))',
                f"{attributes}.model",
                f'{attributes}.numa == 0 || device.driver == "{domain}"',
            )
        )
    has_model, has_index = f"has({attributes}.model)", f"has({attributes}.index)"
    options = [
        f'device.driver == "{domain}"',
        f'{has_model} && {attributes}.model == "{draw.pick(("a", "b"))}"',
        f'!{has_model} || {attributes}.model != "b"',
        f"{has_index} && {attributes}.index {draw.pick(('<', '>=', '!='))} {draw.rng.randint(0, 2)}",
        f'{rack} == "{draw.pick(("r1", "r2"))}"',
        f"{attributes}.?healthy.orValue(false) == true",
        f'has({attributes}.firmware) && {attributes}.firmware.isLessThan(semver("1.1.0"))',
        f'has({capacity}.memory) && {capacity}.memory.compareTo(quantity("{draw.pick(("9Gi", "8Gi"))}")) >= 0',
        f'"{domain}" in device.attributes && device.driver.startsWith("{domain[:3]}")',
        draw.pick(("device.allowMultipleAllocations == true", "!device.allowMultipleAllocations")),
    ]
    if draw.key >= 36 and draw.used["list_type_attributes"]:
        options += [
            f'has({attributes}.nics) && {attributes}.nics.exists(n, n == "eth1")',
            f'has({attributes}.nics) && {attributes}.nics.includes("eth0")',
            f"{has_index} && {attributes}.index.includes(1)",
            f'has({attributes}.nics) && "eth2" in {attributes}.nics',
        ]
    return draw.pick(options)


def _build_attribute_name(draw: Draw) -> str:
    if draw.chance(0.15):
        return "example.com/rack"
    return f"{draw.pick(draw.drivers)}/{draw.pick(ATTRIBUTES if draw.chance(0.25) else ATTRIBUTES[:4])}"


def _build_constraint(draw: Draw, names: list[str]) -> Json:
    if draw.about("oddities", at_most=0.05):
        return {}
    kind = "matchAttribute"
    if draw.chance(0.4 if draw.used["consumable_capacity"] else 0.03):
        kind = "distinctAttribute"
    constraint: Json = {kind: _build_attribute_name(draw)}
    if draw.chance(0.5):
        constraint["requests"] = draw.some(names)
    return constraint


def _derive_attributes(draw: Draw, devices: Json) -> None:
    """Give some requests a derived attribute, and the claim a constraint over it."""
    domain = draw.pick(draw.drivers)
    attributes = f'device.attributes["{domain}"]'
    name = draw.pick(("derived/key", f"{domain}/model"))
    expressions = [
        f'{attributes}.?model.orValue("none")',
        f"has({attributes}.index) ? 1 : 0",
        f"{attributes}.?healthy.orValue(false) == true",
        f'semver({attributes}.?model.orValue("a") == "a" ? "1.0.0" : "2.0.0")',
        f'[{attributes}.?model.orValue("a"), "c"]',
        '[device.driver].filter(name, name == "")',
        f"{attributes}.model",
    ]
    if draw.about("oddities", at_most=0.3):
        expressions = ["device.nope", "quantity('1')", "1.5", f"{attributes}.numa", "device.attributes"]
    wanted = [
        one for request in devices["requests"] for one in request.get("firstAvailable", (request.get("exactly"),))
    ]
    for one in wanted:
        if draw.chance(0.75):
            one["derivedAttributes"] = [{"name": name, "expression": draw.pick(expressions[: draw.rng.randint(1, 7)])}]
    devices.setdefault("constraints", []).append({draw.pick(("matchAttribute", "distinctAttribute")): name})


def _build_config(draw: Draw, at: int) -> Json:
    return {"opaque": {"driver": draw.pick(draw.drivers), "parameters": {"at": at, "mode": draw.pick(("x", "y"))}}}


def _build_claim_config(draw: Draw, names: list[str], at: int) -> Json:
    config = _build_config(draw, at)
    if draw.chance(0.75):
        config["requests"] = draw.some(names)
    return config
