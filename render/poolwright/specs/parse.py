"""Spec files to frozen values: every problem of every file at once, or the values.

A document is read twice at most. The quick reading (msgspec) says yes or no; only where it says no does the slow one
(`shape`) say everything that is wrong. `generate` therefore never loads a schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, Generic, TypeVar

import msgspec

from poolwright.specs.document import Document, parse_documents
from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.ledger import FeatureLedger
from poolwright.specs.model import API_VERSION, SpecModel, decode_custom
from poolwright.specs.place import Place
from poolwright.specs.placement import Placement
from poolwright.specs.pool import Pool
from poolwright.specs.project import Project
from poolwright.specs.stack import Stack

PROJECT_FILE: Final = "poolwright.yaml"
_RULE: Final = "poolwright.dev/v1alpha1"
_MODELS: Final[dict[str, type[SpecModel]]] = {
    "Project": Project,
    "Stack": Stack,
    "Pool": Pool,
    "Envelope": Envelope,
    "Placement": Placement,
    "FeatureLedger": FeatureLedger,
}

K = TypeVar("K", bound=SpecModel, covariant=True)


class Spec(msgspec.Struct, Generic[K], frozen=True, kw_only=True):
    """A spec's value with the document it was read from."""

    value: K
    document: Document

    def place(self, *path: str | int) -> Place:
        """Where the field at path stands, or its nearest parent where it isn't written."""
        return self.document.place(path)


class Specs(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The specs of a project, or of one unit's closure, in the order of file name and place.

    More than one spec may claim a name here; `check_specs` says so.
    """

    projects: tuple[Spec[Project], ...]
    stacks: tuple[Spec[Stack], ...]
    pools: tuple[Spec[Pool], ...]
    envelopes: tuple[Spec[Envelope], ...]
    placements: tuple[Spec[Placement], ...]
    ledgers: tuple[Spec[FeatureLedger], ...] = ()

    @property
    def project(self) -> Spec[Project]:
        """The one Project."""
        return self.projects[0]

    # Looked up once: kept beside the fields, so that a value made from another by `replace` has none of it.

    @cached_property
    def pools_by_name(self) -> Mapping[str, Spec[Pool]]:
        """Each pool by its name; of two with one name the first."""
        return _by_name(self.pools)

    @cached_property
    def envelopes_by_identity(self) -> Mapping[str, Spec[Envelope]]:
        """Each envelope version by NAME@VERSION; of two the first."""
        return _by_name(self.envelopes)

    @cached_property
    def placements_by_cluster(self) -> Mapping[str | None, Mapping[str, Spec[Placement]]]:
        """Placements by the cluster of their pool (None: there is no such pool), then by name; of two the last."""
        found: dict[str | None, dict[str, Spec[Placement]]] = {}
        for placement in self.placements:
            pool = self.pools_by_name.get(placement.value.spec.pool_name)
            cluster = pool.value.spec.cluster_name if pool else None
            found.setdefault(cluster, {})[placement.value.identity] = placement
        return found


def _by_name(specs: Iterable[Spec[K]]) -> Mapping[str, Spec[K]]:
    found: dict[str, Spec[K]] = {}
    for spec in specs:
        found.setdefault(spec.value.identity, spec)
    return found


def parse_specs(files: Mapping[str, bytes]) -> Specs:
    """Every spec of the files, strictly.

    files:  text by name relative to the project; `poolwright.yaml` among them.
    Raises: SpecError with every problem of every file, sorted.
    """
    problems: list[Finding] = []
    specs: list[Spec[SpecModel]] = []
    for file in sorted(files):
        try:
            documents = parse_documents(files[file], file)
        except SpecError as error:
            problems += error.findings
            continue
        for document in documents:
            try:
                specs.append(parse_spec(document))
            except SpecError as error:
                problems += error.findings
    gathered = gather_specs(specs)
    if not any(problem.place.file == PROJECT_FILE for problem in problems):
        problems += _check_one_project(gathered)
    if problems:
        raise SpecError(problems)
    return gathered


def gather_specs(specs: Iterable[Spec[SpecModel]]) -> Specs:
    """Specs sorted into their kinds, their order kept."""
    gathered = tuple(specs)
    return Specs(
        projects=_of_kind(gathered, Project),
        stacks=_of_kind(gathered, Stack),
        pools=_of_kind(gathered, Pool),
        envelopes=_of_kind(gathered, Envelope),
        placements=_of_kind(gathered, Placement),
        ledgers=_of_kind(gathered, FeatureLedger),
    )


def _of_kind(specs: Iterable[Spec[SpecModel]], model: type[K]) -> tuple[Spec[K], ...]:
    return tuple(Spec(value=spec.value, document=spec.document) for spec in specs if isinstance(spec.value, model))


def parse_spec(document: Document) -> Spec[SpecModel]:
    """The spec that a document holds.

    Raises: SpecError with everything that is wrong with the document's shape.
    """
    kind = _kind(document)
    try:
        value = msgspec.convert(document.value, _MODELS[kind], dec_hook=decode_custom)
    except msgspec.ValidationError as error:
        # Here, not at the top: the schema and its validator take longer to load than a unit takes to render.
        from poolwright.specs.shape import check_shape

        findings = check_shape(document, kind)
        if not findings:
            raise AssertionError(f"{document.file}: the reader refuses what the schema takes: {error}") from error
        raise SpecError(findings) from None
    return Spec(value=value, document=document)


def parse_project(files: Mapping[str, bytes]) -> Spec[Project]:
    """The Project, from poolwright.yaml among the files.

    Raises: SpecError with everything that is wrong with it, or if there is none or more than one.
    """
    found = gather_specs(parse_spec(document) for document in parse_documents(files[PROJECT_FILE], PROJECT_FILE))
    if problems := _check_one_project(found):
        raise SpecError(problems)
    return found.project


def find_documents(text: bytes, file: str, kind: str, word: str) -> tuple[Document, ...]:
    """The documents of this kind in a file that holds the word; cheap where the bytes rule them out.

    Sound: a scalar's text stands in the file's bytes as it is, unless it is spelled with escapes, and those take a
    backslash.
    Raises: SpecError if the file isn't ruled out and isn't YAML.
    """
    if b"\\" not in text and not (word.encode("utf-8", "surrogatepass") in text and kind.encode() in text):
        return ()
    return tuple(
        document
        for document in parse_documents(text, file)
        if isinstance(document.value, dict) and document.value.get("kind") == kind
    )


def _kind(document: Document) -> str:
    value = document.value
    if not isinstance(value, dict):
        raise SpecError([_not_a_spec(document.place(), "the document is not a map")])
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _MODELS:
        raise SpecError([_unknown_kind(document, kind)])
    if value.get("apiVersion") != API_VERSION:
        raise SpecError([_wrong_version(document, value.get("apiVersion"))])
    in_project_file = document.file == PROJECT_FILE
    if in_project_file and kind != "Project":
        raise SpecError([_misplaced(document, f"a {kind} stands in {PROJECT_FILE}", "move it to a file under specs/")])
    if not in_project_file and kind == "Project":
        raise SpecError([_misplaced(document, f"a Project stands in {document.file}", f"move it to {PROJECT_FILE}")])
    return kind


def _check_one_project(specs: Specs) -> list[Finding]:
    if not specs.projects:
        return [
            Finding(
                code="not-a-spec",
                severity="error",
                place=Place(PROJECT_FILE),
                what=f"{PROJECT_FILE} holds no Project",
                why="the Project names the clusters: without it nothing is rendered",
                rule=_RULE,
                fix="write a document of kind Project; `poolwright init` makes one",
            )
        ]
    return [
        Finding(
            code="duplicate-name",
            severity="error",
            place=extra.place(),
            what="a second Project",
            why="a repository is one project",
            rule=_RULE,
            fix="keep one of them",
        )
        for extra in specs.projects[1:]
    ]


def _not_a_spec(place: Place, what: str) -> Finding:
    return Finding(
        code="not-a-spec",
        severity="error",
        place=place,
        what=what,
        why="files under specs/ and poolwright.yaml hold specs: maps with apiVersion, kind, metadata and spec",
        rule=_RULE,
        fix="write a spec (`poolwright init` makes one of each kind), or move the file elsewhere",
    )


def _unknown_kind(document: Document, kind: object) -> Finding:
    import difflib  # here: nothing but this message needs it

    near = difflib.get_close_matches(str(kind).capitalize(), _MODELS, 1, 0.6)
    hint = f'did you mean "{near[0]}"? ' if near and kind is not None else ""
    return Finding(
        code="unknown-kind",
        severity="error",
        place=document.place(("kind",)),
        what=_unreadable("kind", kind, "unknown kind"),
        why="the kind says how a document is read",
        rule=_RULE,
        fix="move it to a file of its own under rehearsals/"
        if kind == "Rehearsal"
        else hint + f"known kinds: {', '.join(sorted(_MODELS))}; an object of another kind belongs outside specs/",
    )


def _wrong_version(document: Document, version: object) -> Finding:
    return Finding(
        code="wrong-api-version",
        severity="error",
        place=document.place(("apiVersion",)),
        what=_unreadable("apiVersion", version, "apiVersion is"),
        why="this release reads one version of the spec API",
        rule=_RULE,
        fix=f"write apiVersion: {API_VERSION}",
    )


def _unreadable(name: str, value: object, said: str) -> str:
    if isinstance(value, str):
        return f'{said} "{value[:60]}"'
    return f'"{name}" is missing' if value is None else f'"{name}" is not a string'


def _misplaced(document: Document, what: str, fix: str) -> Finding:
    return Finding(
        code="misplaced-kind",
        severity="error",
        place=document.place(("kind",)),
        what=what,
        why="the Project is read first and alone, so that a run can refuse a newer format before it reads any spec",
        rule=_RULE,
        fix=fix,
    )
