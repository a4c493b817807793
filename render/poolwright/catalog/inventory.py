"""What a cluster's Nodes and ResourceSlices say: the devices that drivers publish, and the nodes they are on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.qualified_name import split_name
from poolwright.specs.document import Document, Plain
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, render_field
from poolwright.specs.quantity import Quantity, parse_quantity

ZONE_LABEL: Final = "topology.kubernetes.io/zone"
_SLICE_API: Final = "resource.k8s.io/v1"
_RULE: Final = "Kubernetes resource/v1 ResourceSlice"
_VALUE_TYPES: Final[dict[str, type]] = {"string": str, "int": int, "bool": bool, "version": str}
_LIST_TYPES: Final = {f"{name}s": kind for name, kind in _VALUE_TYPES.items()}  # gate DRAListTypeAttributes


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeOnDevice:
    """A published attribute."""

    type: str  # string | int | bool | version, and each of these with an s for a list
    value: str | int | bool | tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device as its driver published it in a ResourceSlice."""

    driver: str
    pool: str
    name: str
    attributes: Mapping[tuple[str, str], AttributeOnDevice]  # by domain and identifier
    capacity: Mapping[tuple[str, str], Quantity]  # by domain and identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the cluster."""

    name: str
    zone: str | None  # None: it has no zone label


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """A cluster as it was captured, in the order of the capture."""

    file: str
    nodes: tuple[Node, ...]
    devices: tuple[Device, ...]


def parse_inventory(documents: Iterable[Document], file: str) -> Inventory:
    """Nodes and ResourceSlices as `kubectl get nodes,resourceslices -o yaml` prints them; other kinds are passed over.

    Raises: SpecError with every part that can't be read; fields that nothing here reads are not looked at.
    """
    nodes: list[Node] = []
    devices: list[Device] = []
    problems: list[Finding] = []
    for document in documents:
        reader = _Reader(document, problems)
        for item, path in _items(reader):
            if item.get("kind") == "Node":
                nodes.append(_node(reader, item, path))
            elif item.get("kind") == "ResourceSlice":
                devices += _devices(reader, item, path)
    if problems:
        raise SpecError(problems)
    return Inventory(file=file, nodes=tuple(nodes), devices=tuple(devices))


def _items(reader: _Reader) -> list[tuple[dict[str, Plain], FieldPath]]:
    """The objects of a document: itself, or those of a list."""
    value = reader.mapping(reader.document.value, ())
    if str(value.get("kind", "")).endswith("List"):
        listed = reader.sequence(value.get("items"), ("items",))
        return [(reader.mapping(item, ("items", index)), ("items", index)) for index, item in enumerate(listed)]
    return [(value, ())]


class _Reader:
    """Typed access to a captured object; what has another type is noted once and read as empty."""

    def __init__(self, document: Document, problems: list[Finding]) -> None:
        self.document = document
        self.problems = problems
        self._broken: list[FieldPath] = []

    def mapping(self, value: Plain, path: FieldPath) -> dict[str, Plain]:
        if isinstance(value, dict):
            return value
        self._wrong(value, path, "a map")
        return {}

    def sequence(self, value: Plain, path: FieldPath) -> list[Plain]:
        if isinstance(value, list):
            return value
        self._wrong(value, path, "a list")
        return []

    def text(self, value: Plain, path: FieldPath) -> str:
        if isinstance(value, str):
            return value
        self._wrong(value, path, "a string")
        return ""

    def note(self, path: FieldPath, what: str, why: str) -> None:
        """Note a problem, unless it follows from one above it."""
        if any(path[: len(broken)] == broken for broken in self._broken):
            return
        self._broken.append(path)
        self.problems.append(
            Finding(
                code="inventory-unreadable",
                severity="error",
                place=self.document.place(path),
                what=what,
                why=why,
                rule=_RULE,
                fix="capture the cluster again: kubectl get nodes,resourceslices -o yaml",
            )
        )

    def _wrong(self, value: Plain, path: FieldPath, wanted: str) -> None:
        problem = "is missing" if value is None else f"is not {wanted}"
        self.note(path, f"{render_field(path) or 'the document'} {problem}", "the capture can't be read as it stands")


def _node(reader: _Reader, item: dict[str, Plain], path: FieldPath) -> Node:
    metadata = reader.mapping(item.get("metadata"), (*path, "metadata"))
    labels = reader.mapping(metadata.get("labels", {}), (*path, "metadata", "labels"))
    zone = labels.get(ZONE_LABEL)
    return Node(
        name=reader.text(metadata.get("name"), (*path, "metadata", "name")),
        zone=None if zone is None else reader.text(zone, (*path, "metadata", "labels", ZONE_LABEL)),
    )


def _devices(reader: _Reader, item: dict[str, Plain], path: FieldPath) -> list[Device]:
    if item.get("apiVersion") != _SLICE_API:
        what = f'a ResourceSlice of apiVersion "{item.get("apiVersion")}"'
        reader.note((*path, "apiVersion"), what, f"this release reads {_SLICE_API}")
        return []
    path = (*path, "spec")
    spec = reader.mapping(item.get("spec"), path)
    driver = reader.text(spec.get("driver"), (*path, "driver"))
    pool = reader.mapping(spec.get("pool"), (*path, "pool"))
    pool_name = reader.text(pool.get("name"), (*path, "pool", "name"))
    devices = []
    for index, entry in enumerate(reader.sequence(spec.get("devices", []), (*path, "devices"))):
        at = (*path, "devices", index)
        device = reader.mapping(entry, at)
        devices.append(
            Device(
                driver=driver,
                pool=pool_name,
                name=reader.text(device.get("name"), (*at, "name")),
                attributes=_attributes(reader, driver, device.get("attributes", {}), (*at, "attributes")),
                capacity=_capacity(reader, driver, device.get("capacity", {}), (*at, "capacity")),
            )
        )
    return devices


def _attributes(
    reader: _Reader, driver: str, value: Plain, path: FieldPath
) -> dict[tuple[str, str], AttributeOnDevice]:
    attributes = {}
    for name, boxed in reader.mapping(value, path).items():
        at = (*path, name)
        attribute = _attribute(reader.mapping(boxed, at))
        if attribute is None:
            why = f"it must have exactly one of: {', '.join((*_VALUE_TYPES, *_LIST_TYPES))}"
            reader.note(at, f'attribute "{name}" has no single value of a known type', why)
        else:
            attributes[split_name(driver, name)] = attribute
    return attributes


def _attribute(box: dict[str, Plain]) -> AttributeOnDevice | None:
    (name, content), *more = box.items() or [("", None)]
    if more:
        return None
    if isinstance(content, str | int) and type(content) is _VALUE_TYPES.get(name):
        return AttributeOnDevice(type=name, value=content)
    if isinstance(content, list) and name in _LIST_TYPES:
        values = tuple(v for v in content if isinstance(v, str | int) and type(v) is _LIST_TYPES[name])
        return AttributeOnDevice(type=name, value=values) if values and len(values) == len(content) else None
    return None


def _capacity(reader: _Reader, driver: str, value: Plain, path: FieldPath) -> dict[tuple[str, str], Quantity]:
    capacity = {}
    for name, boxed in reader.mapping(value, path).items():
        at = (*path, name)
        text = reader.mapping(boxed, at).get("value")
        if isinstance(text, int) and not isinstance(text, bool):
            text = str(text)
        try:
            capacity[split_name(driver, name)] = parse_quantity(reader.text(text, (*at, "value")))
        except ValueError as error:
            reader.note((*at, "value"), f'capacity "{name}" is no quantity', str(error))
    return capacity
