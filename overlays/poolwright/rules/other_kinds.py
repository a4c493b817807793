"""Rules on kinds that need one rule each: DeviceTaintRule, DeviceClass, Secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.rules.claim_shape import check_selectors
from poolwright.rules.constraint_shape import check_configs
from poolwright.rules.placed import PlacedObject
from poolwright.rules.served import GROUP
from poolwright.specs.finding import Finding

_SELECTOR: Final = ("driver", "pool", "device")


def check_other_kinds(obj: PlacedObject) -> Iterator[Finding]:
    """The rules on an object's own kind, where it is one of these."""
    if obj.is_of(GROUP, "DeviceTaintRule"):
        yield from _check_taint_rule(obj)
    elif obj.is_of(GROUP, "DeviceClass"):
        yield from check_selectors(obj.root.get("spec"))
        yield from check_configs(obj.root.get("spec"), None)
    elif obj.is_of("", "Secret"):
        yield from _check_secret(obj)


def _check_taint_rule(obj: PlacedObject) -> Iterator[Finding]:
    """Fields that a version dropped select nothing: the API server leaves them out, and the rest is empty."""
    selector = obj.root.get("spec", "deviceSelector")
    if any(selector.get(key).text for key in _SELECTOR):
        return
    others = [key for key, _ in selector.list_entries() if key not in _SELECTOR]
    has = f"only {', '.join(others)}, gone since Kubernetes 1.35" if others else "no field"
    yield Finding(
        code="taint-rule-all",
        severity="error",
        place=selector.place,
        what=f"the deviceSelector of {obj.title} has {has}"
        if selector.is_set
        else f"{obj.title} has no deviceSelector",
        why="an empty selector taints every device of the cluster, and what none at all does is told in two ways",
        rule="Kubernetes DRA, DeviceTaintRule",
        fix="write at least one of driver, pool and device",
    )


def _check_secret(obj: PlacedObject) -> Iterator[Finding]:
    written = [obj.root.get(key) for key in ("data", "stringData") if obj.root.get(key).list_entries()]
    if not written:
        return
    count = sum(len(field.list_entries()) for field in written)
    yield Finding(
        code="secret-inline",
        severity="warning",
        place=written[0].key_place,
        what=f"{obj.title} holds {count} value{'' if count == 1 else 's'} in plain text or base64",
        why="whoever can read the repository or the rendered objects can read the secret, now and in its history",
        rule="poolwright safety design",
        fix="keep it in a secret store and let an operator put it into the cluster; change it if it was ever committed",
    )
