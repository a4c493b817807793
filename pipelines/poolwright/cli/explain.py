"""`poolwright explain`: a finding's code, a spec field, or where each field of a rendered object comes from."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from poolwright.catalog.closure import PLATFORM_UNIT, EnvelopeClosure
from poolwright.cli.complete import render_workload
from poolwright.cli.load import LoadedProject, load_project
from poolwright.cli.output import tell
from poolwright.files.project import find_project
from poolwright.objects.built import Built, list_leaves
from poolwright.objects.kubernetes import Object
from poolwright.objects.trace import Render, trace_platform, trace_unit
from poolwright.specs.canonical import canonical_json
from poolwright.specs.codes import CODES, explain_code
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.model import plain_spec
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.resolve import resolve_cluster, resolve_placement
from poolwright.specs.scalar import FORMATS
from poolwright.specs.schema import KINDS, Schema, build_schema, field_schema
from poolwright.specs.unit_specs import find_cluster

# Two values that say the same hide each other, and not every value is tried: it needn't be the renderer's own.
NO_PLACE: Final = "no single spec value changes it, as far as was tried"


def run_explain(subject: str, project: str) -> int:
    """Explain a code (`lane-consent`), a field (`Envelope.spec.load`) or an object (`CLUSTER/UNIT/KIND/NAME`).

    Raises: SpecError if the subject isn't there, with the nearest that is.
    """
    kinds = {kind.lower(): kind for kind in KINDS}
    kind, _, rest = subject.partition(".")
    if subject in CODES:
        tell(f"{subject}: {explain_code(subject)}")
    elif kind.lower() in kinds:
        _explain_field(kinds[kind.lower()], rest)
    elif "/" in subject.partition("#")[0]:
        _explain_object(subject, load_project(find_project(project)))
    else:
        raise SpecError([_unknown(subject, "nothing", "code, kind of spec, or object", [*CODES, *KINDS])])
    return 0


def _explain_field(kind: str, text: str) -> None:
    schema = build_schema(kind)
    path = _parse_path(schema, text)
    node = field_schema(schema, path)
    if node is None:
        known = _field_names(schema, (), schema)
        raise SpecError([_unknown(f"{kind}.{text}", f"a field of {kind}", "field", [f"{kind}.{k}" for k in known])])
    tell(f"{kind}{'.' + text if text else ''}  <{_type_name(node)}>")
    for line in _describe(node):
        tell(f"  {line}")
    below = node.get("items", node)
    below = field_schema(schema, (*path, 0)) or below if "items" in node else node
    for name in below.get("properties", {}):
        field = field_schema(schema, (*path, *([0] if "items" in node else []), name)) or {}
        required = " (required)" if name in below.get("required", ()) else ""
        tell(f"  {name}  <{_type_name(field)}>{required}")
        if "description" in field:
            tell(f"      {field['description']}")


def _parse_path(schema: Schema, text: str) -> FieldPath:
    """The path that is written; one entry of a list has the schema of all, whether or not an index says which."""
    path: FieldPath = ()
    for quoted, plain in re.findall(r'"([^"]*)"|([^.\[\]"]+)', text):
        is_list = "items" in (field_schema(schema, path) or {})
        path = (*path, 0) if is_list else path
        path = path if is_list and plain.isdecimal() else (*path, quoted or plain)
    return path


def _describe(node: Schema) -> Iterable[str]:
    if "description" in node:
        yield node["description"]
    if "enum" in node:
        yield f"one of: {', '.join(map(str, node['enum']))}"
    if node.get("format") in FORMATS:
        form = FORMATS[node["format"]]
        yield f"format: {form.what}, such as {form.example}"
    for keyword, words in (("minimum", "at least"), ("maximum", "at most")):
        if keyword in node:
            yield f"{words} {node[keyword]}"
    if "default" in node:
        yield f"default: {json.dumps(node['default'])}"


def _type_name(node: Schema) -> str:
    if "items" in node or node.get("type") == "array":
        return f"list of {_type_name(node.get('items', {}))}"
    if "properties" in node or "$ref" in node:
        return str(node.get("title") or node["$ref"].rpartition("/")[2])
    kind = node.get("type", "string" if "enum" in node else "value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind).replace("object", "map")


def _field_names(schema: Schema, path: FieldPath, node: Schema) -> list[str]:
    names = []
    for name in node.get("properties", {}):
        at = (*path, name)
        below = field_schema(schema, at) or {}
        names.append(".".join(str(step) for step in at if isinstance(step, str)))
        step = (*at, 0) if "items" in below else at
        names += _field_names(schema, step, field_schema(schema, step) or {})
    return names


def _explain_object(subject: str, project: LoadedProject) -> None:
    name, _, pointer = subject.partition("#")
    cluster, unit, *rest = name.split("/")
    built = _trace(project, cluster, unit)
    identities = [f"{cluster}/{unit}/{b.document['kind']}/{b.document['metadata']['name']}" for b in built]
    if not rest:
        for identity in identities:
            tell(identity)
        return
    if name not in identities:
        raise SpecError([_unknown(name, f"an object of unit {cluster}/{unit}", "object", identities)])
    _tell_origins(built[identities.index(name)], pointer)


def _tell_origins(built: Built, pointer: str) -> None:
    leaves = list_leaves(built.document)
    chosen = [leaf for leaf in leaves if leaf == pointer or leaf.startswith(f"{pointer.rstrip('/')}/")]
    if not chosen:
        raise SpecError([_unknown(f"#{pointer}", "a field of the object", "field", [f"#{leaf}" for leaf in leaves])])
    for leaf in chosen:
        tell(f"{leaf}: {json.dumps(leaves[leaf], ensure_ascii=False)}")
        places = built.origins[leaf]
        for place in places:
            tell(f"    {place}  {place.field}")
        if not places:
            tell(f"    {NO_PLACE}")


def _trace(project: LoadedProject, cluster: str, unit: str) -> Sequence[Built]:
    specs = project.specs
    find_cluster(specs.project, cluster)
    pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == cluster)
    if unit == PLATFORM_UNIT and pools:
        on, _ = resolve_cluster(specs, cluster)
        if on is not None:
            return trace_platform(specs, on, pools, project.facts)
    resolved = [resolve_placement(specs, placement)[0] for placement in specs.placements]
    here = {r.placement.value.identity: r for r in resolved if r and r.on.cluster.name == cluster}
    if unit not in here:
        known = [f"{cluster}/{name}" for name in (*here, PLATFORM_UNIT)]
        raise SpecError([_unknown(f"{cluster}/{unit}", "a unit", "unit", known)])
    return trace_unit(specs, here[unit], project.facts, project.named_files, _build_render())


def _build_render() -> Render:
    """Renders templates; of what it rendered before, again the same: most spec values don't reach a template."""
    workloads: dict[bytes, Object] = {}

    def render(envelope: EnvelopeClosure, files: Mapping[str, bytes]) -> Object:
        key = canonical_json(plain_spec(envelope))
        if key not in workloads:
            try:
                workloads[key] = render_workload(envelope, files)
            except SpecError as error:
                raise ValueError(str(error)) from None
        return workloads[key]

    return render


def _unknown(subject: str, what: str, kind: str, known: Sequence[str]) -> Finding:
    near = difflib.get_close_matches(subject, known, 3, 0.5) or list(known)[:20]
    article = "an" if kind == "object" else "a"
    return Finding(
        code="explain-unknown",
        severity="error",
        place=Place("poolwright explain"),
        what=f'"{subject}" is {what} that is known' if what == "nothing" else f'"{subject}" is not {what}',
        why="codes stand in brackets; fields are KIND.PATH; objects are CLUSTER/UNIT/KIND/NAME[#/POINTER]",
        rule="poolwright explain --help",
        fix=f"name {article} {kind}, such as: {', '.join(near)}",
    )
