"""What may have been meant by an attribute or capacity that a device doesn't have, and how to ask for it safely."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from poolwright.allocation.selectors.values import Failure
from poolwright.catalog.resource_slice import Device, QualifiedKey

_MAPS = {"attribute": "device.attributes", "capacity": "device.capacity"}


def suggest(failure: Failure, device: Device) -> str:
    """A hint for a selector that looked up what isn't there; empty for any other failure.

    It names what the device publishes nearest to that: the same name in another domain, a name like it in the same
    domain, or a name like it in a domain of a like name.
    """
    if failure.missing is None:
        return ""
    kind, domain, name = failure.missing
    published = device.attributes if kind == "attribute" else device.capacity
    near = _find_near((domain, name), published)
    place = _render(kind, domain, name)
    guard = f"guard it with has({place}), or write {_MAPS[kind]}[{_quote(domain)}].?{name}.orValue(...)"
    if near is None:
        return guard
    return f"the device publishes {_render(kind, *near)}; if that isn't meant, {guard}"


def _find_near(wanted: QualifiedKey, published: Iterable[QualifiedKey]) -> QualifiedKey | None:
    domain, name = wanted
    keys = sorted(published)
    elsewhere = [key for key in keys if key[1] == name]
    if elsewhere:
        return _find_nearest(domain, {key[0]: key for key in elsewhere}, cutoff=0.0)
    beside = _find_nearest(name.lower(), {key[1].lower(): key for key in keys if key[0] == domain}, cutoff=0.6)
    if beside is not None:
        return beside
    return _find_nearest(f"{domain}/{name}".lower(), {"/".join(key).lower(): key for key in keys}, cutoff=0.8)


def _find_nearest(text: str, keys: dict[str, QualifiedKey], *, cutoff: float) -> QualifiedKey | None:
    found = difflib.get_close_matches(text, keys, n=1, cutoff=cutoff)
    return keys[found[0]] if found else None


def _render(kind: str, domain: str, name: str) -> str:
    return f"{_MAPS[kind]}[{_quote(domain)}].{name}"


def _quote(text: str) -> str:
    return f'"{text}"'
