"""The random cases: always the same, and with everything in them. Neither Go nor our allocator is asked here."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

import pytest
from random_cases import build_case, digest_case
from random_draw import Json

MINORS = ("1.34", "1.35", "1.36", "1.37")
# Of the first 50 cases. Another digest means other cases: record the vectors again (record_vectors.py).
DIGESTS = {
    "1.34": "d7e25162d8f6b090",
    "1.35": "71b3260ecd4c045f",
    "1.36": "bc706784df156031",
    "1.37": "bec9c9ae1dc2c733",
}
# What turns up in cases, as a pattern in their text with sorted keys; from which minor on.
CONTENT = {
    "several-drivers": ("1.34", r'"driver": "nic\.example\.com".*"driver": "gpu\.example\.com"'),
    "pools-that-sort-as-text": ("1.34", r'"name": "p10".*"name": "p2"'),
    "a-pool-name-with-a-slash": ("1.34", r'"name": "rack/7"'),
    "slices-of-other-nodes": ("1.34", r'"nodeName": "n2"'),
    "slices-of-all-nodes": ("1.34", r'"allNodes": true'),
    "node-selector-in": ("1.34", r'"key": "zone", "operator": "In"'),
    "node-selector-not-in": ("1.34", r'"key": "zone", "operator": "NotIn"'),
    "node-selector-exists": ("1.34", r'"operator": "Exists"}, {"key": "spot"'),
    "node-selector-greater": ("1.34", r'"operator": "Gt"'),
    "node-selector-fields": ("1.34", r'"matchFields"'),
    "node-selection-per-device": ("1.34", r'"perDeviceNodeSelection": true'),
    "all": ("1.34", r'"allocationMode": "All"'),
    "more-than-a-claim-may-have": ("1.34", r'"count": 33'),
    "first-available": ("1.34", r'"firstAvailable"'),
    "class-that-is-missing": ("1.34", r'"deviceClassName": "gone"'),
    "selector-that-does-not-compile": ("1.34", r"device\.nope|1 \+ 1|\.model = |\.memory > 1"),
    "selector-on-missing-attribute": ("1.34", r"\.numa == 0"),
    "selector-on-capacity": ("1.34", r"\.memory\.compareTo"),
    "selector-on-sharing": ("1.34", r"device\.allowMultipleAllocations"),
    "match-attribute": ("1.34", r'"matchAttribute"'),
    "distinct-attribute": ("1.34", r'"distinctAttribute"'),
    "constraint-on-alternatives": ("1.34", r'"constraints": \[.*"requests": \[[^]]*"r0/s0"'),
    "admin-access": ("1.34", r'"adminAccess": true'),
    "admin-access-declined": ("1.34", r'"adminAccess": false'),
    "taints": ("1.34", r'"effect": "NoExecute", "key"'),
    "taint-without-effect": ("1.35", r'"effect": "None"'),
    "tolerations": ("1.34", r'"tolerations"'),
    "counters": ("1.34", r'"consumesCounters"'),
    "counter-set-that-is-missing": ("1.34", r'"counterSet": "cs9"'),
    "counter-that-is-missing": ("1.34", r'"watts"'),
    "shareable-devices": ("1.34", r'"allowMultipleAllocations": true'),
    "policy-with-range": ("1.34", r'"validRange"'),
    "policy-with-fractions": ("1.34", r'"step": "250m"'),
    "policy-with-values": ("1.34", r'"validValues"'),
    "policy-with-default-only": ("1.34", r'"requestPolicy": {"default": "[^"]*"}'),
    "negative-capacity": ("1.34", r'"memory": "-1Gi"'),
    "too-much-capacity": ("1.34", r'"memory": "20Gi"'),
    "no-capacity": ("1.34", r'"requests": {"memory": "0"'),
    "capacity-out-of-range": ("1.34", r'"8Ei"'),
    "capacity-that-is-missing": ("1.34", r'"bandwidth"'),
    "binding-conditions": ("1.34", r'"bindingConditions"'),
    "binds-to-node": ("1.34", r'"bindsToNode": true'),
    "held-devices": ("1.34", r'"held": \[{'),
    "held-devices-that-are-gone": ("1.34", r'"held": \[{.*"gone"'),
    "held-shares": ("1.34", r'"shareID"'),
    "held-shares-with-capacity": ("1.34", r'"consumedCapacity"'),
    "class-and-claim-config": ("1.34", r'"classes": .*"config": .*"config": '),
    "list-attributes": ("1.36", r'"strings": \['),
    "list-functions": ("1.36", r"\.includes\("),
    "node-operations": ("1.37", r'"skipNodeOperations"'),
    "declared-features": ("1.37", r'"declaredFeatures"'),
    "compatibility-groups": ("1.37", r'"compatibilityGroups"'),
    "derived-attributes": ("1.37", r'"derivedAttributes"'),
}
CASES = 500


@pytest.mark.parametrize("minor", MINORS)
def test_seeds_give_the_same_cases_for_ever(minor: str) -> None:
    digests = [digest_case(build_case(seed, minor)) for seed in range(50)]
    assert len(set(digests)) == 50
    assert hashlib.sha256("".join(digests).encode()).hexdigest()[:16] == DIGESTS[minor]


@pytest.mark.parametrize("minor", MINORS)
def test_everything_turns_up(minor: str) -> None:
    texts = [json.dumps(build_case(seed, minor), sort_keys=True) for seed in range(CASES)]
    wanted = {name: pattern for name, (since, pattern) in CONTENT.items() if minor >= since}
    found = {name: sum(bool(re.search(pattern, text)) for text in texts) for name, pattern in wanted.items()}
    assert {name: count for name, count in found.items() if not count} == {}


@pytest.mark.parametrize("minor", MINORS)
def test_features_are_on_and_off(minor: str) -> None:
    cases = [build_case(seed, minor) for seed in range(CASES)]
    on = Counter(name for case in cases for name, is_on in case["features"].items() if is_on)
    assert set(on) == set(cases[0]["features"])
    assert {name: count for name, count in on.items() if not CASES // 10 < count < CASES} == {}


@pytest.mark.parametrize("minor", MINORS)
def test_pools_are_odd_in_every_way(minor: str) -> None:
    seen = Counter(word for seed in range(CASES) for word in set(_list_oddities(build_case(seed, minor)["slices"])))
    assert {word for word, count in seen.items() if count > 2} == {
        "incomplete",
        "several generations",
        "same device name twice",
        "slices not in order",
        "pool on several nodes",
    }


def _list_oddities(slices: list[Json]) -> list[str]:
    words = []
    pools: dict[tuple[str, str], list[Json]] = {}
    for made in slices:
        pools.setdefault((made["spec"]["driver"], made["spec"]["pool"]["name"]), []).append(made)
    for members in pools.values():
        names = [device["name"] for made in members for device in made["spec"].get("devices", ())]
        titles = [made["metadata"]["name"] for made in members]
        generations = {made["spec"]["pool"]["generation"] for made in members}
        oddities = {
            "incomplete": members[0]["spec"]["pool"]["resourceSliceCount"] > len(members),
            "several generations": len(generations) > 1,
            "same device name twice": len(generations) == 1 and len(set(names)) < len(names),
            "slices not in order": titles != sorted(titles),
            "pool on several nodes": len({made["spec"].get("nodeName") for made in members}) > 1,
        }
        words += [word for word, is_so in oddities.items() if is_so]
    return words
