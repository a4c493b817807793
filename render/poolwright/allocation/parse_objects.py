"""Plain Kubernetes objects to the values that an allocation is decided on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from poolwright.allocation.cluster_objects import ClusterObjects, Namespace, Placed, TaintRule
from poolwright.allocation.defaults import NAMESPACE
from poolwright.allocation.parse_claim import CLAIM_APIS, FLAT_API, parse_claim, parse_class, parse_template
from poolwright.allocation.parse_pod import WORKLOAD_APIS, parse_pod, parse_workload
from poolwright.catalog.captured import CapturedField, CapturedReader, Source, list_objects
from poolwright.catalog.captured_slice import parse_slice
from poolwright.catalog.inventory import parse_node
from poolwright.catalog.resource_slice import Taint
from poolwright.specs.document import Document, Plain
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, Place

RULE_APIS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1alpha3")
_OLD_SELECTORS: Final = ("deviceClassName", "selectors")  # of v1alpha3 up to Kubernetes 1.34


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How objects of a kind are read, and the field of ClusterObjects that they go to."""

    group: str
    apis: tuple[str, ...]
    parse: Callable[[CapturedField], Any]
    is_namespaced: bool = True


def parse_objects(documents: Iterable[Document]) -> ClusterObjects:
    """Objects as kubectl prints them or as people write them, one by one or in lists; defaults are filled in.

    Objects of other kinds, and of kinds of the same name in other groups, are counted and passed over.
    Raises: SpecError with every part that can't be read, and every object that stands twice and differs.
    """
    problems: list[Finding] = []
    found = _Found()
    for document in documents:
        reader = CapturedReader(document, problems, _source("Kubernetes API conventions"))
        for item, path in list_objects(reader):
            _read_object(reader, item, path, found)
    if problems or found.problems:
        raise SpecError([*problems, *found.problems])
    groups: dict[str, Any] = {name: tuple(placed) for name, placed in found.groups.items()}
    return ClusterObjects(**groups, passed_over=dict(sorted(found.passed_over.items())), notes=_notes(found))


@dataclass(slots=True)
class _Found:
    groups: dict[str, list[Placed[Any]]] = field(default_factory=dict)
    named: dict[tuple[str, str, str], Placed[Any]] = field(default_factory=dict)
    passed_over: Counter[str] = field(default_factory=Counter)
    unplaced: list[tuple[str, Place]] = field(default_factory=list)  # objects that name no namespace
    problems: list[Finding] = field(default_factory=list)
    first: Place | None = None  # of the first object that was passed over


def _read_object(reader: CapturedReader, item: dict[str, Plain], path: FieldPath, found: _Found) -> None:
    api, name = item.get("apiVersion"), item.get("kind")
    if not isinstance(api, str) or not isinstance(name, str) or not api or not name:
        reader.note(
            path, "this is no Kubernetes object: it has no apiVersion or no kind", "its kind decides how it is read"
        )
        return
    kind = _KINDS.get(name)
    if kind is None or not _is_same_group(api, kind):
        found.passed_over[name] += 1
        found.first = found.first or reader.document.place(path)
        return
    reader = reader.about(_source(f"Kubernetes {api} {name}"))
    if api not in kind.apis:
        reader.note(
            (*path, "apiVersion"),
            f'{name} of apiVersion "{api}"',
            f"this release reads {', '.join(kind.apis)}",
            "capture it again, or write it in one of them",
        )
        return
    before = len(reader.problems)
    root = CapturedField(reader, item, path)
    value = kind.parse(root)
    if len(reader.problems) == before:
        _add(found, kind, name, Placed(value=value, locate=_locator(reader.document, path, name, api)), item)


def _add(found: _Found, kind: _Kind, name: str, placed: Placed[Any], item: Mapping[str, Any]) -> None:
    value = placed.value
    namespace = value.namespace if kind.is_namespaced else ""
    if kind.is_namespaced and not item["metadata"].get("namespace"):
        found.unplaced.append((name, placed.place))
    known = found.named.get((name, namespace, value.name))
    if known is None:
        found.named[name, namespace, value.name] = placed
        found.groups.setdefault(kind.group, []).append(placed)
    elif known != placed:
        found.problems.append(_duplicate(name, namespace, value.name, placed.place, known.place))


def _locator(document: Document, path: FieldPath, kind: str, api: str) -> Callable[[FieldPath], Place]:
    """Places of an object's fields as v1 has them; in v1beta1 nothing stands under `exactly` and much under `basic`."""

    def locate(below: FieldPath) -> Place:
        if api == FLAT_API and kind != "ResourceSlice":
            below = tuple(step for step in below if step != "exactly")
        elif api == FLAT_API and len(below) > 3 and below[:2] == ("spec", "devices"):
            below = (*below[:3], "basic", *below[3:])
        return document.place((*path, *below))

    return locate


def _is_same_group(api: str, kind: _Kind) -> bool:
    return api.rpartition("/")[0] in {known.rpartition("/")[0] for known in kind.apis}


def _source(rule: str) -> Source:
    return Source(
        code="object-unreadable",
        rule=rule,
        why="the API server refuses the object",
        fix="write it as Kubernetes' API has it, or as kubectl get -o yaml prints it",
    )


def _parse_slice(root: CapturedField) -> Any:
    slices = parse_slice(root.reader, root.plain(), root.path)
    return slices[0] if slices else None  # none only for an API version that isn't read, which was asked before


def _parse_rule(root: CapturedField) -> TaintRule:
    spec = root.get("spec")
    selector, taint = spec.get("deviceSelector"), spec.get("taint")
    for name in _OLD_SELECTORS:
        if selector.get(name).is_set:
            selector.get(name).note(
                "is a selector that Kubernetes dropped in 1.35",
                "later releases ignore it, and taint every device that the other fields select",
                "name driver, pool and device instead",
            )
    return TaintRule(
        name=root.get("metadata", "name").name(),
        taint=Taint(
            key=taint.get("key").name(),
            value=taint.get("value").text(),
            effect=taint.get("effect").name(),
            time_added=taint.get("timeAdded").optional_text(),
        ),
        has_selector=selector.is_set,
        driver=selector.get("driver").optional_text(),
        pool=selector.get("pool").optional_text(),
        device=selector.get("device").optional_text(),
    )


def _parse_namespace(root: CapturedField) -> Namespace:
    metadata = root.get("metadata")
    return Namespace(name=metadata.get("name").name(), labels=metadata.get("labels").text_map())


_KINDS: Final[dict[str, _Kind]] = {
    "DeviceClass": _Kind(group="classes", apis=CLAIM_APIS, parse=parse_class, is_namespaced=False),
    "DeviceTaintRule": _Kind(group="taint_rules", apis=RULE_APIS, parse=_parse_rule, is_namespaced=False),
    "Namespace": _Kind(group="namespaces", apis=("v1",), parse=_parse_namespace, is_namespaced=False),
    "Node": _Kind(
        group="nodes",
        apis=("v1",),
        parse=lambda root: parse_node(root.reader, root.plain(), root.path),
        is_namespaced=False,
    ),
    "Pod": _Kind(group="pods", apis=("v1",), parse=parse_pod),
    "ResourceClaim": _Kind(group="claims", apis=CLAIM_APIS, parse=parse_claim),
    "ResourceClaimTemplate": _Kind(group="templates", apis=CLAIM_APIS, parse=parse_template),
    "ResourceSlice": _Kind(group="slices", apis=CLAIM_APIS, parse=_parse_slice, is_namespaced=False),
    **{kind: _Kind(group="workloads", apis=(api,), parse=parse_workload) for kind, api in WORKLOAD_APIS.items()},
}


def _duplicate(kind: str, namespace: str, name: str, place: Place, first: Place) -> Finding:
    title = f"{namespace}/{name}" if namespace else name
    return Finding(
        code="object-duplicate",
        severity="error",
        place=place,
        what=f'{kind} "{title}" stands a second time and differs; {first} has it first',
        why="a cluster has one object of a kind and name, and which of the two it has isn't known",
        rule="Kubernetes API conventions",
        fix="give one of the two",
    )


def _notes(found: _Found) -> tuple[Finding, ...]:
    notes = []
    if found.passed_over:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.passed_over.items()))
        notes.append(
            Finding(
                code="objects-passed-over",
                severity="note",
                place=replace(found.first, field="") if found.first else Place(""),
                what=f"passed over: {counts}",
                why="objects of these kinds don't decide which devices a claim gets",
                rule="poolwright allocate",
                fix="nothing to do; leave them out to make the input smaller",
            )
        )
    if found.unplaced:
        kind, place = found.unplaced[0]
        more = f" and {len(found.unplaced) - 1} more" if len(found.unplaced) > 1 else ""
        notes.append(
            Finding(
                code="namespace-assumed",
                severity="note",
                place=place,
                what=f'this {kind}{more} names no namespace, and is read as one of "{NAMESPACE}"',
                why="kubectl puts an object into the namespace of its context, which isn't known here",
                rule="poolwright allocate",
                fix="write metadata.namespace",
            )
        )
    return tuple(notes)
