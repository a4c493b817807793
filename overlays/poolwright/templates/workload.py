"""What a team's template gave: one workload that has everything it must have, and decides nothing a cluster does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.catalog.dialect import ENGINE_PORT
from poolwright.objects.engine import PORT_NAME, engine_image
from poolwright.objects.envelope import build_workload
from poolwright.objects.kubernetes import MANAGED_BY, PART_OF, Object
from poolwright.rules.device_access import check_device_access
from poolwright.rules.node_contract import check_node_contract
from poolwright.rules.placed import Field, PlacedObject
from poolwright.rules.pod import find_pods
from poolwright.specs.canonical import MAX_INTEGER
from poolwright.specs.claim_plan import ENGINE_CONTAINER
from poolwright.specs.document import Document, parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place, render_field
from poolwright.trees.yaml_text import render_object

_RULE: Final = "poolwright workload templates"
_OURS: Final = "poolwright.dev/"
# What a cluster decides, and the spec field that says it.
_DECIDED: Final[Mapping[str, str]] = {
    "replicas": "Placement.spec.minReplicas",
    "strategy": "Placement.spec.surge",
    "rolloutStrategy": "Placement.spec.surge",
}
_DECIDED_OF_POD: Final[Mapping[str, str]] = {
    "resourceClaims": "Envelope.spec.claim",
    "nodeSelector": "Placement.spec.zone",
    "nodeName": "Placement.spec.zone",
    "affinity": "Placement.spec.zone",
    "schedulerName": "Placement.spec.poolName",
    "tolerations": "Pool.spec.tolerations",
    "priorityClassName": "Placement.spec.deviceClassNames: the tier of its classes",
    "priority": "Placement.spec.deviceClassNames: the tier of its classes",
    "preemptionPolicy": "Placement.spec.deviceClassNames: the tier of its classes",
    "terminationGracePeriodSeconds": "a component in custom/",
}
# What the template of an engine of the team's own writes itself.
_STARTED: Final = frozenset(
    ("command", "args", "ports", "startupProbe", "readinessProbe", "livenessProbe", "lifecycle", "workingDir")
)


def parse_workload(text: str, lines: Sequence[int], file: str, envelope: EnvelopeClosure) -> Object:
    """The workload in a template's text, with what it left out of ours and needn't say.

    lines:  for each line of the text the template's; empty where that isn't known.
    file:   the template.
    Raises: SpecError with everything that is wrong with it, each at the template's line.
    """
    try:
        documents = parse_documents(text.encode("utf-8", "surrogatepass"), file)
        if problems := _check_count(documents, file, envelope):
            raise SpecError(problems)
        (document,) = documents
        problems = list(_Check(document, envelope).run())
        if problems:
            raise SpecError(problems)
    except SpecError as error:
        raise SpecError(_in_template(finding, lines) for finding in error.findings) from None
    return _complete(_drop_nulls(document.value), build_workload(envelope))


def _in_template(finding: Finding, lines: Sequence[int]) -> Finding:
    """The finding at the template's line in place of the text's."""
    place = finding.place

    def find_line(line: int) -> int:
        return lines[line - 1] if 0 < line <= len(lines) else 0

    line = find_line(place.line)
    what = re.sub(r"\bline ([0-9]+)", lambda found: f"line {find_line(int(found[1])) or found[0]}", finding.what)
    return Finding(
        code=finding.code,
        severity=finding.severity,
        place=Place(place.file, line, 1 if line else 0, place.field),
        what=what if line or not place.line else f"{what} (line {place.line} of what it prints)",
        why=finding.why,
        rule=finding.rule,
        fix=finding.fix,
    )


def _check_count(documents: Sequence[Document], file: str, envelope: EnvelopeClosure) -> list[Finding]:
    wanted = build_workload(envelope)
    kind = f"{wanted['kind']} of {wanted['apiVersion']}"
    if len(documents) != 1:
        found = f"{len(documents)} objects" if documents else "no object"
        return [_result(documents[1].place() if documents else Place(file), f"the template gives {found}", kind)]
    (document,) = documents
    said = document.value if isinstance(document.value, dict) else {}
    if (said.get("kind"), said.get("apiVersion")) != (wanted["kind"], wanted["apiVersion"]):
        found = f"a {said.get('kind')} of {said.get('apiVersion')}" if "kind" in said else "what is no object"
        return [_result(document.place(("kind",)), f"the template gives {found}", kind)]
    return []


def _result(place: Place, what: str, kind: str) -> Finding:
    return Finding(
        code="template-result",
        severity="error",
        place=place,
        what=what,
        why=f"a template gives the unit's one workload, here a {kind}; all other objects follow from the specs",
        rule=_RULE,
        fix=f"give exactly one {kind}; put other objects into custom/",
    )


class _Check:
    """One pass over a template's object beside the workload that it stands in the place of."""

    def __init__(self, document: Document, envelope: EnvelopeClosure) -> None:
        self.envelope = envelope
        self.wanted = build_workload(envelope)
        value: Any = _drop_nulls(document.value)
        self.placed = PlacedObject(value=value, locate=document.place, locate_key=document.key_place)

    def run(self) -> Iterator[Finding]:
        root = self.placed.root
        yield from self._check_text()
        yield from self._check_known(root, ("apiVersion", "kind", "metadata", "spec"))
        metadata = root.get("metadata")
        yield from self._check_known(metadata, ("name", "namespace", "labels", "annotations"))
        for key in ("name", "namespace"):
            yield from self._check_same(metadata.get(key), self.wanted["metadata"][key])
        yield from self._check_map(metadata.get("labels"), self.wanted["metadata"]["labels"])
        yield from self._check_map(metadata.get("annotations"), self.wanted["metadata"]["annotations"], is_whole=False)
        yield from self._check_decided(root.get("spec"), _DECIDED)
        if self.wanted["kind"] == "Deployment":
            yield from self._check_same(root.get("spec", "selector"), self.wanted["spec"]["selector"])
            yield from self._check_pod(root.get("spec", "template"), self.wanted["spec"]["template"], serves=True)
        else:
            group, wanted = root.get("spec", "leaderWorkerTemplate"), self.wanted["spec"]["leaderWorkerTemplate"]
            yield from self._check_same(group.get("size"), wanted["size"])
            yield from self._check_pod(group.get("leaderTemplate"), wanted["leaderTemplate"], serves=True)
            yield from self._check_pod(group.get("workerTemplate"), wanted["workerTemplate"], serves=False)
        for pod in find_pods(self.placed):
            yield from check_device_access(pod)
        decided = set(_DECIDED_OF_POD)
        for finding in check_node_contract([self.placed]):
            if not any(f".{name}" in finding.place.field for name in decided):  # that it stands there is said
                yield finding

    def _check_text(self) -> Iterator[Finding]:
        """Whether there is one text, and a digest, of it."""
        numbers = [field for field in _list_leaves(self.placed.root) if not _is_plain(field.value)]
        for field in numbers:
            what = f"{render_field(field.path)} is {field.value}, which programs write in several ways"
            yield self._part(field, what, f"quote it, or write a whole number of at most {MAX_INTEGER}")
        if not numbers:
            try:
                render_object(self.placed.value)
            except ValueError as error:
                yield self._part(
                    self.placed.root, f"Kustomize can't write the workload out: {error}", "change the text"
                )

    def _check_known(self, field: Field, known: tuple[str, ...]) -> Iterator[Finding]:
        for key, value in field.list_entries():
            if key not in known:
                what = f"the template's workload has {render_field(value.path)}"
                yield self._part(value, what, f"remove it; there may be {', '.join(known)}")

    def _check_same(self, field: Field, wanted: Any) -> Iterator[Finding]:
        if not _same(field.value, wanted):
            yield self._part(field, f"the template's {render_field(field.path)} isn't the envelope's", _use(field))

    def _check_map(self, field: Field, wanted: Mapping[str, str], *, is_whole: bool = True) -> Iterator[Finding]:
        """Labels or annotations: ours as they are, and none that looks like ours."""
        name, said = render_field(field.path), dict(field.list_entries())
        if field.is_set and not isinstance(field.value, dict):
            yield self._part(field, f"the template's {name} isn't a map", _use(field))
            return
        if is_whole and (missing := sorted(set(wanted) - set(said))):
            yield self._part(field, f"the template's {name} has no {', '.join(missing)}", _use(field))
        for key, entry in said.items():
            if not isinstance(entry.value, str):
                yield self._part(entry, f"the template's {render_field(entry.path)} isn't a text", "quote it")
            elif entry.value != wanted.get(key, entry.value):
                yield self._part(entry, f"the template changes {key}", _use(field))
        for key, entry in said.items():
            if key not in wanted and (key.startswith(_OURS) or key in (PART_OF, *MANAGED_BY)):
                yield self._part(entry, f"the template sets {key}, which is poolwright's", "remove it")

    def _check_decided(self, spec: Field, decided: Mapping[str, str]) -> Iterator[Finding]:
        for key, instead in decided.items():
            if spec.get(key).is_set:
                yield Finding(
                    code="template-decides",
                    severity="error",
                    place=spec.get(key).key_place,
                    what=f"the template sets {render_field(spec.get(key).path)}",
                    why="the base is the same on every cluster, and this is what a cluster decides",
                    rule=_RULE,
                    fix=f"remove it; it follows from {instead}",
                )

    def _check_pod(self, pod: Field, wanted: Object, *, serves: bool) -> Iterator[Finding]:
        yield from self._check_known(pod, ("metadata", "spec"))
        yield from self._check_known(pod.get("metadata"), ("labels", "annotations"))
        yield from self._check_map(pod.get("metadata", "labels"), wanted["metadata"]["labels"])
        yield from self._check_map(pod.get("metadata", "annotations"), wanted["metadata"]["annotations"])
        spec = pod.get("spec")
        yield from self._check_decided(spec, _DECIDED_OF_POD)
        yield from self._check_volumes(spec.get("volumes"), wanted["spec"]["volumes"])
        for key in ("initContainers", "containers"):
            yield from self._check_containers(spec.get(key), wanted["spec"].get(key, []), serves=serves)

    def _check_volumes(self, volumes: Field, wanted: Sequence[Object]) -> Iterator[Finding]:
        said = {volume.get("name").text: volume for volume in volumes.list_items()}
        for volume in wanted:
            found = said.get(volume["name"])
            if found is None or not _same(found.value, volume):
                verb = "drops" if found is None else "changes"
                yield self._part(found or volumes, f'the template {verb} the volume "{volume["name"]}"', _use(volumes))

    def _check_containers(self, containers: Field, wanted: Sequence[Object], *, serves: bool) -> Iterator[Finding]:
        items = containers.list_items()
        names = [item.get("name").text for item in items]
        ours = {container["name"]: container for container in wanted}
        for index, item in enumerate(items):
            if not names[index]:
                yield self._part(item, f"{render_field(item.path)} has no name", "give the container a name")
            elif names[index] in names[:index]:
                yield self._part(item, f'a second container is called "{names[index]}"', "give it another name")
            elif names[index] in ours:
                yield from self._check_ours(item, ours[names[index]], serves=serves)
            else:
                yield from self._check_own(item)
        for name, container in ours.items():
            if name not in names:
                code = "template-drops-claim" if container.get("resources", {}).get("claims") else "template-part"
                what = f'the template\'s {render_field(containers.path)} has no container "{name}"'
                yield self._part(containers, what, _use(containers), code=code)
        if ENGINE_CONTAINER in names[1:] and names[0] != ENGINE_CONTAINER in ours:
            # Kustomize puts what a patch changes in front, so it has to stand there.
            what = f'the container "{ENGINE_CONTAINER}" is not the first one'
            yield self._part(items[names.index(ENGINE_CONTAINER)], what, "move it to the front")

    def _check_ours(self, container: Field, wanted: Object, *, serves: bool) -> Iterator[Finding]:
        name, is_engine = wanted["name"], wanted["name"] == ENGINE_CONTAINER
        free = _STARTED if is_engine and self.envelope.dialect is None else frozenset()
        said = container.value if isinstance(container.value, dict) else {}
        for key in sorted({*said, *wanted} - free):
            if _same(said.get(key), wanted.get(key)):
                continue
            field = container.get(key) if key in said else container
            if key == "args":
                yield self._args(field, name)
                continue
            claims = (said.get("resources") or {}).get("claims") if key == "resources" else None
            lost = key == "resources" and not _same(claims, wanted.get("resources", {}).get("claims"))
            yield self._part(
                field,
                f'the template changes {key} of the container "{name}"',
                _use(container),
                code="template-drops-claim" if lost else "template-part",
            )
        # A worker that takes its work elsewhere needs none; what a router sends to must be there.
        if is_engine and serves and free and self.envelope.spec.router and not _has_port(container):
            yield self._part(
                container,
                f'the container "{name}" has no port "{PORT_NAME}" {ENGINE_PORT}',
                f"add {{name: {PORT_NAME}, containerPort: {ENGINE_PORT}}}: Service and router send requests there",
            )

    def _check_own(self, container: Field) -> Iterator[Finding]:
        """A container that the template adds: it has the devices exactly if the envelope says so."""
        name, claim = container.get("name").text, self.envelope.spec.claim
        shares = claim.pattern == "perPodShared" and name in claim.containers
        claims = container.get("resources", "claims")
        if bool(claims.list_items()) != shares:
            what = "doesn't use" if shares else "uses"
            fix = "write resources: {claims: {{ pod.containerClaims | to_json }}}" if shares else "remove the claims"
            yield self._part(
                claims if claims.is_set else container,
                f'the container "{name}" {what} the pod\'s devices, and the envelope says otherwise',
                f"{fix}, or change claim.containers of the envelope",
                code="template-drops-claim",
            )
        image = container.get("image")
        if _image_name(image.text) == _image_name(engine_image(self.envelope)):
            what = f'the image of the container "{name}" is called like the serving image'
            yield self._part(image, what, "name it as it is in its registry: each cluster replaces the serving image")

    def _args(self, field: Field, name: str) -> Finding:
        return Finding(
            code="args-priced",
            severity="error",
            place=field.place,
            what=f'the template changes the arguments of the container "{name}"',
            why="the envelope's fields decide them, and what fits and what it costs is worked out from those",
            rule=_RULE,
            fix="use pod.engineContainer as it is, and say it in the envelope: load, precision, topology, engine.args",
        )

    def _part(self, field: Field, what: str, fix: str, *, code: str = "template-part") -> Finding:
        why = {
            "template-drops-claim": "who uses the devices is the envelope's decision; no claim, no devices",
            "template-part": "Service, router, budget, alerts and the decisions of each cluster rest on these parts",
        }[code]
        return Finding(code=code, severity="error", place=field.place, what=what, why=why, rule=_RULE, fix=fix)


def _use(field: Field) -> str:
    """The variable that has what a field must have."""
    *above, last = (step for step in field.path if isinstance(step, str))
    pod = "leader" if "leaderTemplate" in above else "worker" if "workerTemplate" in above else "pod"
    in_pod = "template" in above or pod != "pod"
    return {
        "labels": f"write {{{{ {pod}.labels | to_json }}}}" if in_pod else "write {{ labels | to_json }}",
        "annotations": f"write {{{{ {pod}.annotations | to_json }}}}" if in_pod else "leave it out: it is filled in",
        "selector": "write {matchLabels: {{ selectorLabels | to_json }}}",
        "volumes": f"start with the items of {pod}.volumes, as they are",
        "initContainers": f"start with the items of {pod}.initContainers, as they are",
        "containers": f"start with {{{{ {pod}.engineContainer | to_json }}}}, then {pod}.sidecars, as they are",
        "name": "write {{ envelope.name }}",
        "namespace": "write {{ envelope.namespace }}",
        "size": "write {{ group.size }}",
    }.get(last, "use the variable as it is")


def _has_port(container: Field) -> bool:
    ports = container.get("ports").list_items()
    return any((p.get("name").text, p.get("containerPort").number) == (PORT_NAME, ENGINE_PORT) for p in ports)


def _image_name(image: str) -> str:
    """Without tag and digest, as Kustomize's `images` compare it."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def _list_leaves(field: Field) -> Iterator[Field]:
    below = [*field.list_items(), *(entry for _, entry in field.list_entries())]
    if not below:
        yield field
    for entry in below:
        yield from _list_leaves(entry)


def _is_plain(value: Any) -> bool:
    """Whether canonical JSON has it."""
    return not isinstance(value, float) and (not isinstance(value, int) or abs(value) <= MAX_INTEGER)


def _same(said: Any, wanted: Any) -> bool:
    """Equal in type too: `true` is not `1`."""
    if isinstance(wanted, dict) and isinstance(said, dict):
        return said.keys() == wanted.keys() and all(_same(said[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(said, list):
        return len(said) == len(wanted) and all(map(_same, said, wanted))
    return isinstance(said, bool) is isinstance(wanted, bool) and bool(said == wanted)


def _drop_nulls(value: Any) -> Any:
    """Without the entries of maps that are null: for Kubernetes they aren't there."""
    if isinstance(value, dict):
        return {key: _drop_nulls(item) for key, item in value.items() if item is not None}
    return [_drop_nulls(item) for item in value] if isinstance(value, list) else value


def _complete(said: Object, wanted: Object) -> Object:
    """The template's workload with what it needn't say: our annotations, deadlines, and the pods' defaults."""
    metadata = {**said["metadata"]}
    metadata["annotations"] = {**wanted["metadata"]["annotations"], **metadata.get("annotations", {})}
    spec = {**wanted["spec"], **said["spec"]}
    if "template" in spec:
        spec["template"] = _complete_pod(spec["template"], wanted["spec"]["template"])
    else:
        ours, group = wanted["spec"]["leaderWorkerTemplate"], said["spec"]["leaderWorkerTemplate"]
        pods = {key: _complete_pod(group[key], ours[key]) for key in ("leaderTemplate", "workerTemplate")}
        spec["leaderWorkerTemplate"] = {**ours, **group, **pods}
    return {**said, "metadata": metadata, "spec": spec}


def _complete_pod(said: Object, wanted: Object) -> Object:
    return {**said, "spec": {**wanted["spec"], **said["spec"]}}
