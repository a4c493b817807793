"""Spec files to values: kinds sorted, order kept, one Project. What is refused, and how, is in test_bad_specs.py."""

from __future__ import annotations

import msgspec
import pytest

from fleet import list_specs, read_small_fleet
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError
from poolwright.specs.model import Model, plain_spec
from poolwright.specs.parse import Spec, find_documents, parse_project, parse_spec, parse_specs
from poolwright.specs.place import Place
from poolwright.specs.placement import EnvelopeReference, Placement, PlacementMetadata, PlacementSpec
from poolwright.specs.pool import Toleration

FILES = list_specs(read_small_fleet())


def test_specs_by_kind_in_order_of_file_and_place() -> None:
    specs = parse_specs(dict(reversed(FILES.items())))
    assert [
        [(spec.value.identity, str(spec.place("metadata", "name"))) for spec in of_kind]
        for of_kind in (specs.projects, specs.stacks, specs.pools, specs.envelopes, specs.placements)
    ] == [
        [("inference-fleet", "poolwright.yaml:6:9")],
        [("kubernetes-1-36", "specs/stack.yaml:5:9")],
        [("h100-full", "specs/pool.yaml:5:9")],
        [
            ("chat-70b@2.3.0", "specs/envelopes/chat-70b/2.3.0.yaml:5:9"),
            ("chat-70b@2.4.0", "specs/envelopes/chat-70b/2.4.0.yaml:5:9"),
        ],
        [("chat-70b", "specs/placements.yaml:5:9"), ("chat-70b-next", "specs/placements.yaml:17:9")],
    ]


def parse_one(text: str) -> Spec[Placement]:
    (document,) = parse_documents(text.encode(), "specs/a.yaml")
    spec = parse_spec(document)
    assert isinstance(spec.value, Placement)
    return Spec(value=spec.value, document=document)


PLACEMENT = """\
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: a}
spec: {envelope: {name: e, version: 1.0.0}, poolName: p, deviceClassNames: [c], minReplicas: 1, surge: 0}
"""


def test_a_spec_is_a_frozen_value_with_defaults_and_places() -> None:
    spec = parse_one(PLACEMENT)
    assert spec.value == Placement(
        api_version="poolwright.dev/v1alpha1",
        kind="Placement",
        metadata=PlacementMetadata(name="a"),
        spec=PlacementSpec(
            envelope=EnvelopeReference(name="e", version="1.0.0"),
            pool_name="p",
            device_class_names=("c",),
            zone=None,
            min_replicas=1,
            surge=0,
            lane="baseline",
        ),
    )
    assert hash(spec.value) == hash(
        parse_one(PLACEMENT.replace("metadata: {name: a}", "metadata:\n    name: 'a'")).value
    )
    assert spec.place("spec", "poolName") == Place("specs/a.yaml", 4, 55, "spec.poolName")
    with pytest.raises(AttributeError, match="immutable"):
        spec.value.spec.surge = 1  # type: ignore[misc]  # that it can't be done is the point


EQUAL_TEXTS = {
    "quantity-of-the-same-value": ("specs/pool.yaml", "min: 79Gi, below: 90Gi", "min: 80896Mi, below: 96636764160"),
    "duration-of-the-same-length": ("specs/envelopes/chat-70b/2.3.0.yaml", "timeout: 15m", "timeout: 900s"),
    "integer-in-another-base": ("specs/placements.yaml", "minReplicas: 1", "minReplicas: 0x1"),
    "default-written-out": ("specs/placements.yaml", "surge: 0", "surge: 0\n  lane: baseline"),
    "null-for-an-optional-field": ("specs/placements.yaml", "surge: 1", "surge: 1\n  zone: null"),
    "block-for-braces": ("specs/placements.yaml", "deviceClassNames: [", "deviceClassNames:\n    ["),
}


@pytest.mark.parametrize(("file", "old", "new"), EQUAL_TEXTS.values(), ids=EQUAL_TEXTS)
def test_texts_of_equal_meaning_are_equal_values(file: str, old: str, new: str) -> None:
    text = FILES[file].decode()
    assert old in text
    one, other = parse_specs(FILES), parse_specs({**FILES, file: text.replace(old, new).encode()})
    for kind in ("projects", "stacks", "pools", "envelopes", "placements"):
        values = [[plain_spec(spec.value) for spec in getattr(specs, kind)] for specs in (one, other)]
        assert values[0] == values[1]


def test_plain_values_leave_defaults_out_and_read_back() -> None:
    for document in (d for file, text in FILES.items() for d in parse_documents(text, file)):
        spec = parse_spec(document)
        again = type(spec.document)(file=document.file, value=plain_spec(spec.value), root=document.root)  # type: ignore[arg-type]  # JSON-like by contract
        assert parse_spec(again).value == spec.value
    assert plain_spec(Toleration(key="a", operator="Equal", effect="NoSchedule")) == {
        "key": "a",
        "effect": "NoSchedule",
    }


FOUND = {
    "block": ("kind: Pool\nmetadata:\n  name: u1\n", 1),
    "quoted": ("'kind': \"Pool\"\nmetadata: {name: 'u1'}\n", 1),
    "braces": ("{metadata: {name: u1}, kind: Pool}", 1),
    "json": ('{"kind":"Pool","metadata":{"name":"u1"}}', 1),
    "second-document": ("kind: Stack\n---\nkind: Pool\nx: u1\n---\nkind: Pool\n", 2),
    "word-anywhere": ("kind: Pool # u1\n", 1),
    "other-kind": ("kind: Pools\nmetadata: {name: u1}\n", 0),
    "no-such-word": ("kind: Pool\nmetadata: {name: b}\n", 0),
    "kind-of-a-part": ("spec: {kind: Pool, name: u1}\n", 0),
    "list": ("- kind: Pool\n- u1\n", 0),
    # What rules the file out is its bytes: it isn't parsed, so it isn't refused either.
    "broken-file-of-another-kind": ("kind: Stack\nu1: [\n", 0),
}


@pytest.mark.parametrize(("text", "count"), FOUND.values(), ids=FOUND)
def test_find_documents(text: str, count: int) -> None:
    found = find_documents(text.encode(), "specs/a.yaml", "Pool", "u1")
    assert [document.scalar_text(("kind",)) for document in found] == ["Pool"] * count


def test_find_documents_refuses_a_broken_file_of_the_kind() -> None:
    with pytest.raises(SpecError, match="yaml-syntax"):
        find_documents(b"kind: Pool\nu1: [\n", "specs/a.yaml", "Pool", "u1")


def test_the_project_is_read_without_the_other_files() -> None:
    project = parse_project({**dict.fromkeys(FILES, b"["), "poolwright.yaml": FILES["poolwright.yaml"]})
    assert (project.value.metadata.name, [cluster.name for cluster in project.value.spec.clusters]) == (
        "inference-fleet",
        ["east"],
    )


NO_PROJECT = {
    "empty": (b"", "poolwright.yaml: poolwright.yaml holds no Project [not-a-spec]"),
    "two": (
        FILES["poolwright.yaml"] + b"---\n" + FILES["poolwright.yaml"],
        "poolwright.yaml:18:1: a second Project [duplicate-name]",
    ),
    "stack": (FILES["specs/stack.yaml"], "poolwright.yaml:3:7: a Stack stands in poolwright.yaml [misplaced-kind]"),
}


@pytest.mark.parametrize(("text", "says"), NO_PROJECT.values(), ids=NO_PROJECT)
def test_no_project(text: bytes, says: str) -> None:
    for read in (parse_project, parse_specs):
        with pytest.raises(SpecError) as caught:
            read({"poolwright.yaml": text})
        assert str(caught.value) == says


def test_a_project_file_that_cannot_be_read_is_told_once() -> None:
    with pytest.raises(SpecError) as caught:
        parse_specs({**FILES, "poolwright.yaml": b"["})
    assert [finding.code for finding in caught.value.findings] == ["yaml-syntax"]


def _models(model: type[Model]) -> set[type[Model]]:
    return {model}.union(*(_models(below) for below in model.__subclasses__()))


def test_every_part_of_a_spec_is_strict() -> None:
    for model in _models(Model):
        config = model.__struct_config__
        assert (config.frozen, config.forbid_unknown_fields, config.omit_defaults) == (True, True, True), model
        assert not any(isinstance(field.default, (list, dict)) for field in msgspec.structs.fields(model))
