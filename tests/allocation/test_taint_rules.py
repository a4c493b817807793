"""Taints of DeviceTaintRules on the devices they select."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from poolwright.allocation.cluster_objects import TaintRule
from poolwright.allocation.features import build_features
from poolwright.allocation.taint_rules import apply_taint_rules
from poolwright.catalog.resource_slice import Device, Placement, ResourceSlice, Taint

OWN = Taint(key="own", effect="NoSchedule")
DRAIN = Taint(key="drain", effect="NoExecute")
LATER = Taint(key="later", effect="None")


def build_slice(driver: str, pool: str, *names: str) -> ResourceSlice:
    return ResourceSlice(
        name=f"{driver}-{pool}",
        driver=driver,
        pool=pool,
        generation=1,
        slice_count=1,
        placement=Placement(all_nodes=True),
        devices=tuple(Device(driver=driver, pool=pool, name=name, taints=(OWN,)) for name in names),
    )


SLICES = (build_slice("gpu", "a", "0", "1"), build_slice("gpu", "b", "0"), build_slice("nic", "a", "0"))
RULE = TaintRule(name="m", taint=DRAIN)
EVERY = ("gpu/a/0", "gpu/a/1", "gpu/b/0", "nic/a/0")
CASES: dict[str, tuple[TaintRule, str, tuple[str, ...]]] = {
    "empty-selector": (RULE, "1.37", EVERY),
    "driver": (replace(RULE, driver="gpu"), "1.37", ("gpu/a/0", "gpu/a/1", "gpu/b/0")),
    "pool": (replace(RULE, pool="a"), "1.37", ("gpu/a/0", "gpu/a/1", "nic/a/0")),
    "device": (replace(RULE, device="0"), "1.37", ("gpu/a/0", "gpu/b/0", "nic/a/0")),
    "all-three": (replace(RULE, driver="gpu", pool="a", device="1"), "1.37", ("gpu/a/1",)),
    "none-of-them": (replace(RULE, driver="gpu", pool="c"), "1.37", ()),
    # The API says that such a rule selects nothing; releases before 1.37 put it on every device.
    "no-selector-in-1.36": (replace(RULE, has_selector=False), "1.36", EVERY),
    "no-selector-in-1.37": (replace(RULE, has_selector=False), "1.37", ()),
}


@pytest.mark.parametrize(("rule", "minor", "tainted"), CASES.values(), ids=CASES)
def test_which_devices_a_rule_taints(rule: TaintRule, minor: str, tainted: tuple[str, ...]) -> None:
    before = copy.deepcopy(SLICES)
    slices = apply_taint_rules(SLICES, [rule], minor=minor)
    assert before == SLICES
    found = {f"{d.driver}/{d.pool}/{d.name}": d.taints for one in slices for d in one.devices}
    assert found == {name: (OWN, DRAIN) if name in tainted else (OWN,) for name in EVERY}


def test_taints_of_several_rules_come_in_order_of_their_names() -> None:
    rules = [replace(RULE, name="z", taint=LATER), RULE, replace(RULE, name="a", taint=LATER)]
    for given in (rules, rules[::-1]):
        (one,) = apply_taint_rules(SLICES[2:], given, minor="1.37")
        assert one.devices[0].taints == (OWN, LATER, DRAIN, LATER)


GATES = {
    "1.34-has-no-gate-for-rules": ("1.34", {"DRADeviceTaints": True}, True),
    "1.35-has": ("1.35", {"DRADeviceTaints": True}, False),
    "both": ("1.36", {"DRADeviceTaints": True, "DRADeviceTaintRules": True}, True),
    "rules-without-taints": ("1.37", {"DRADeviceTaintRules": True}, False),
}


@pytest.mark.parametrize(("minor", "gates", "on"), GATES.values(), ids=GATES)
def test_when_rules_count(minor: str, gates: dict[str, bool], on: bool) -> None:
    assert build_features(minor, gates).applies_taint_rules is on
