"""The difference between a base object and a finished one as a JSON patch (RFC 6902), for kinds that Kustomize has no
merge keys for.

Kustomize would replace such a kind's lists as a whole, and with them what the base says of other fields. A JSON patch
reaches into them by position, so each way through a list starts with a `test` that what stands there is what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from poolwright.objects.kubernetes import Object

# What tells the items of a pod's lists apart; the items of other lists have no name to test.
_KEYS: Final = {"containers": "name", "initContainers": "name", "env": "name", "volumes": "name"}
_WITH_IMAGES: Final = ("containers", "initContainers")  # the overlay's `images` set theirs

Operation = dict[str, Any]


def build_json_patch(base: Object, finished: Object) -> list[Operation]:
    """The operations that make `finished` of `base`, in the order they are applied; none if they are equal.

    Another image of a container is left out: the overlay's `images` set it. Lists that can't be told apart by name are
    replaced as a whole.

    Raises: ValueError for a field of the base that the finished object lacks: no decision takes one away.
    """
    return list(_map_difference(base, finished, ""))


def _map_difference(base: Object, finished: Object, at: str) -> Iterator[Operation]:
    if gone := sorted(set(base) - set(finished)):
        raise ValueError(f"{at}/{gone[0]}: a decision takes away what the base has")
    for key in sorted(finished):
        path, value = f"{at}/{_escape(key)}", finished[key]
        if key not in base:
            yield {"op": "add", "path": path, "value": value}
        elif isinstance(value, dict) and isinstance(base[key], dict):
            yield from _map_difference(base[key], value, path)
        elif value != base[key] and isinstance(value, list) and _is_keyed(key, [*base[key], *value]):
            yield from _list_difference(base[key], value, key, path)
        elif value != base[key]:
            yield {"op": "replace", "path": path, "value": value}


def _list_difference(base: list[Any], finished: list[Any], name: str, at: str) -> Iterator[Operation]:
    """Items put in front of the base's, which keep their order and are changed within; else the whole list."""
    key, added = _KEYS[name], len(finished) - len(base)
    if added < 0 or not base or [item[key] for item in finished[added:]] != [item[key] for item in base]:
        yield {"op": "replace", "path": at, "value": finished}
        return
    for index, (before, after) in enumerate(zip(base, finished[added:], strict=True)):
        image = {"image": before["image"]} if name in _WITH_IMAGES and "image" in before else {}
        if changes := list(_map_difference(before, {**after, **image}, f"{at}/{index}")):
            yield _test(at, index, key, before)
            yield from changes
    if added:
        yield _test(at, 0, key, base[0])
        for item in reversed(finished[:added]):
            yield {"op": "add", "path": f"{at}/0", "value": item}


def _test(at: str, index: int, key: str, item: Object) -> Operation:
    return {"op": "test", "path": f"{at}/{index}/{key}", "value": item[key]}


def _is_keyed(name: str, items: list[Any]) -> bool:
    return name in _KEYS and all(isinstance(item, dict) and _KEYS[name] in item for item in items)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
