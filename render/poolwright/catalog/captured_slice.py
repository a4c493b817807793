"""ResourceSlices as kubectl prints them: v1, v1beta2 and v1beta1 give the same values."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.captured import CapturedReader
from poolwright.catalog.qualified_name import split_name
from poolwright.catalog.resource_slice import (
    UNSUPPORTED,
    AttributeOnDevice,
    CapacityOnDevice,
    Counters,
    Device,
    Placement,
    QualifiedKey,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
)
from poolwright.specs.document import Plain
from poolwright.specs.place import FieldPath, render_field
from poolwright.specs.quantity import Quantity

_BOXED_API: Final = "resource.k8s.io/v1beta1"  # a device's fields stand under `basic`
_SLICE_APIS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", _BOXED_API)
_VALUE_TYPES: Final[dict[str, type]] = {"string": str, "int": int, "bool": bool, "version": str}
_LIST_TYPES: Final = {f"{name}s": kind for name, kind in _VALUE_TYPES.items()}  # gate DRAListTypeAttributes
_PLACEMENT: Final = ("nodeName", "nodeSelector", "allNodes")
_SLICE_FIELDS: Final = {
    *_PLACEMENT,
    "perDeviceNodeSelection",
    "driver",
    "pool",
    "devices",
    "sharedCounters",
    "skipNodeOperations",
}
_DEVICE_FIELDS: Final = {
    *_PLACEMENT,
    "attributes",
    "capacity",
    "taints",
    "consumesCounters",
    "allowMultipleAllocations",
    "bindingConditions",
    "bindingFailureConditions",
    "bindsToNode",
}


def parse_slice(reader: CapturedReader, item: dict[str, Plain], path: FieldPath) -> list[ResourceSlice]:
    """A ResourceSlice that stands at path; none if it is of an API version that isn't read."""
    api = item.get("apiVersion")
    if api not in _SLICE_APIS:
        what = f'a ResourceSlice of apiVersion "{api}"'
        reader.note((*path, "apiVersion"), what, f"this release reads {', '.join(_SLICE_APIS)}")
        return []
    metadata = reader.mapping(item.get("metadata"), (*path, "metadata"))
    at = (*path, "spec")
    spec = reader.mapping(item.get("spec"), at)
    driver = reader.text(spec.get("driver"), (*at, "driver"))
    pool = reader.mapping(spec.get("pool"), (*at, "pool"))
    pool_name = reader.text(pool.get("name"), (*at, "pool", "name"))
    placement = _placement(
        reader,
        spec,
        at,
        per_device=reader.flag(spec.get("perDeviceNodeSelection", False), (*at, "perDeviceNodeSelection")),
    )
    listed = reader.sequence(spec.get("devices", []), (*at, "devices"))
    return [
        ResourceSlice(
            name=reader.text(metadata.get("name"), (*path, "metadata", "name")),
            driver=driver,
            pool=pool_name,
            generation=reader.number(pool.get("generation"), (*at, "pool", "generation"), least=0),
            slice_count=reader.number(pool.get("resourceSliceCount"), (*at, "pool", "resourceSliceCount"), least=1),
            placement=placement,
            devices=tuple(
                _device(reader, entry, (*at, "devices", index), driver, pool_name, api == _BOXED_API, placement)
                for index, entry in enumerate(listed)
            ),
            shared_counters=_counters(reader, spec.get("sharedCounters", []), (*at, "sharedCounters"), "name"),
            skip_node_operations=_texts(reader, spec, "skipNodeOperations", at) or (),
            aside=_aside(spec, _SLICE_FIELDS),
        )
    ]


def _placement(
    reader: CapturedReader, said: dict[str, Plain], path: FieldPath, *, per_device: bool = False
) -> Placement:
    name = reader.text(said.get("nodeName", ""), (*path, "nodeName")) or None
    selector = reader.mapping(said["nodeSelector"], (*path, "nodeSelector")) if said.get("nodeSelector") else None
    all_nodes = reader.flag(said.get("allNodes", False), (*path, "allNodes"))
    given = [name is not None, selector is not None, all_nodes, per_device]
    if sum(given) != 1:
        fields = (*_PLACEMENT, "perDeviceNodeSelection") if path[-1] == "spec" else _PLACEMENT
        what = f"{render_field(path)} says {'nothing' if not any(given) else 'several things'} of the nodes it is for"
        reader.note(path, what, f"it must have exactly one of: {', '.join(fields)}")
    return Placement(node_name=name, node_selector=selector, all_nodes=all_nodes, per_device=per_device)


def _device(
    reader: CapturedReader, entry: Plain, at: FieldPath, driver: str, pool: str, boxed: bool, placement: Placement
) -> Device:
    device = reader.mapping(entry, at)
    fields = {name: value for name, value in device.items() if name != "name"}
    inner = at
    if boxed != ("basic" in fields) and fields:
        found, wanted = ("in the device itself", "under basic") if boxed else ("under basic", "in the device itself")
        reader.note(at, f"{render_field(at)} has its fields {found}", f"in this API version they stand {wanted}")
    elif boxed:
        inner = (*at, "basic")
        fields = reader.mapping(fields.get("basic", {}), inner)
    return Device(
        driver=driver,
        pool=pool,
        name=reader.text(device.get("name"), (*at, "name")),
        attributes=_attributes(reader, driver, fields.get("attributes", {}), (*inner, "attributes")),
        capacity=_capacity(reader, driver, fields.get("capacity", {}), (*inner, "capacity")),
        taints=parse_taints(reader, fields.get("taints", []), (*inner, "taints")),
        consumes=_counters(reader, fields.get("consumesCounters", []), (*inner, "consumesCounters"), "counterSet"),
        allow_multiple_allocations=reader.flag(
            fields.get("allowMultipleAllocations", False), (*inner, "allowMultipleAllocations")
        ),
        binding_conditions=_texts(reader, fields, "bindingConditions", inner),
        binding_failure_conditions=_texts(reader, fields, "bindingFailureConditions", inner),
        binds_to_node=reader.flag(fields.get("bindsToNode", False), (*inner, "bindsToNode")),
        placement=_placement(reader, fields, inner) if placement.per_device else None,
        aside=_aside(fields, _DEVICE_FIELDS),
    )


def _texts(reader: CapturedReader, said: dict[str, Plain], name: str, path: FieldPath) -> tuple[str, ...] | None:
    """A list of strings; None where there is none."""
    if name not in said:
        return None
    at = (*path, name)
    return tuple(reader.text(entry, (*at, index)) for index, entry in enumerate(reader.sequence(said[name], at)))


def _aside(said: dict[str, Plain], known: set[str]) -> dict[str, Plain]:
    return {name: value for name, value in said.items() if name not in known}


def parse_taints(reader: CapturedReader, value: Plain, path: FieldPath) -> tuple[Taint, ...]:
    """Taints of a device or a node."""
    taints = []
    for index, entry in enumerate(reader.sequence(value, path)):
        at = (*path, index)
        taint = reader.mapping(entry, at)
        added = taint.get("timeAdded")
        taints.append(
            Taint(
                key=reader.text(taint.get("key"), (*at, "key")),
                value=reader.text(taint.get("value", ""), (*at, "value")),
                effect=reader.text(taint.get("effect"), (*at, "effect")),
                time_added=None if added is None else reader.text(added, (*at, "timeAdded")),
            )
        )
    return tuple(taints)


def _counters(reader: CapturedReader, value: Plain, path: FieldPath, key: str) -> tuple[Counters, ...]:
    sets = []
    for index, entry in enumerate(reader.sequence(value, path)):
        at = (*path, index)
        said = reader.mapping(entry, at)
        counters = reader.mapping(said.get("counters"), (*at, "counters"))
        sets.append(
            Counters(
                counter_set=reader.text(said.get(key), (*at, key)),
                counters={
                    name: _boxed_quantity(reader, box, (*at, "counters", name), f'counter "{name}"')
                    for name, box in counters.items()
                },
                compatibility_groups=_texts(reader, said, "compatibilityGroups", at) or (),
            )
        )
    return tuple(sets)


def _boxed_quantity(reader: CapturedReader, box: Plain, path: FieldPath, what: str) -> Quantity:
    return reader.quantity(reader.mapping(box, path).get("value"), (*path, "value"), what)


def _attributes(
    reader: CapturedReader, driver: str, value: Plain, path: FieldPath
) -> dict[QualifiedKey, AttributeOnDevice]:
    attributes: dict[QualifiedKey, AttributeOnDevice] = {}
    for name, boxed in _qualified_last(reader.mapping(value, path)):
        at = (*path, name)
        attribute = _attribute(reader.mapping(boxed, at))
        if attribute is None:
            why = f"it must have exactly one of: {', '.join((*_VALUE_TYPES, *_LIST_TYPES))}"
            reader.note(at, f'attribute "{name}" has no single value of a known type', why)
        else:
            attributes[split_name(driver, name)] = attribute
    return attributes


def _qualified_last(values: dict[str, Plain]) -> list[tuple[str, Plain]]:
    """Of `x` and `driver.example.com/x`, which are one name, the whole one comes last and stays."""
    return sorted(values.items(), key=lambda entry: "/" in entry[0])


def _attribute(box: dict[str, Plain]) -> AttributeOnDevice | None:
    """None: it has several values, or one that isn't of the type it is said to be."""
    (name, content), *more = box.items() or [("", None)]
    if more:
        return None
    if name not in _VALUE_TYPES and name not in _LIST_TYPES:  # of a newer API: old schedulers fail on it
        return AttributeOnDevice(type=UNSUPPORTED, value=None)
    if isinstance(content, str | int) and type(content) is _VALUE_TYPES.get(name):
        return AttributeOnDevice(type=name, value=content)
    if isinstance(content, list) and name in _LIST_TYPES:
        values = tuple(v for v in content if isinstance(v, str | int) and type(v) is _LIST_TYPES[name])
        return AttributeOnDevice(type=name, value=values) if values and len(values) == len(content) else None
    return None


def _capacity(
    reader: CapturedReader, driver: str, value: Plain, path: FieldPath
) -> dict[QualifiedKey, CapacityOnDevice]:
    capacity = {}
    for name, boxed in _qualified_last(reader.mapping(value, path)):
        at = (*path, name)
        box = reader.mapping(boxed, at)
        capacity[split_name(driver, name)] = CapacityOnDevice(
            name=name,
            value=reader.quantity(box.get("value"), (*at, "value"), f'capacity "{name}"'),
            request_policy=_policy(reader, box.get("requestPolicy"), (*at, "requestPolicy")),
        )
    return capacity


def _policy(reader: CapturedReader, value: Plain, path: FieldPath) -> RequestPolicy | None:
    if value is None:
        return None
    said = reader.mapping(value, path)
    values, bounds = said.get("validValues", []), said.get("validRange")
    ranged = None if bounds is None else reader.mapping(bounds, (*path, "validRange"))
    return RequestPolicy(
        default=_amount(reader, said, "default", path),
        valid_values=tuple(
            reader.quantity(entry, (*path, "validValues", index), "a valid value")
            for index, entry in enumerate(reader.sequence(values, (*path, "validValues")))
        ),
        valid_range=None
        if ranged is None
        else ValidRange(
            min=_amount(reader, ranged, "min", (*path, "validRange")),
            max=_amount(reader, ranged, "max", (*path, "validRange")),
            step=_amount(reader, ranged, "step", (*path, "validRange")),
        ),
    )


def _amount(reader: CapturedReader, said: dict[str, Plain], name: str, path: FieldPath) -> Quantity | None:
    value = said.get(name)
    return None if value is None else reader.quantity(value, (*path, name), f"the {name}")
