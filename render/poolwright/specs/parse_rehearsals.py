"""Files under rehearsals/ to records: every problem of every file at once, or the values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from poolwright.specs.document import Document, parse_documents
from poolwright.specs.entries import repeated, repeated_entries
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.model import decode_custom
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.rehearsal import Rehearsal

REHEARSAL_FOLDER: Final = "rehearsals"
KIND: Final = "Rehearsal"
_RULE: Final = "poolwright.dev/v1alpha1"


def parse_rehearsals(files: Mapping[str, bytes]) -> tuple[Spec[Rehearsal], ...]:
    """The record of each file, strictly, in the order of file names.

    files:  text by name relative to the project.
    Raises: SpecError with every problem of every file, sorted; two records of one name are one.
    """
    problems: list[Finding] = []
    records: list[Spec[Rehearsal]] = []
    for file in sorted(files):
        try:
            record = _parse_record(_find_document(parse_documents(files[file], file), file))
        except SpecError as error:
            problems += error.findings
            continue
        problems += _check_entries(record)
        records.append(record)
    problems += _check_names(records)
    if problems:
        raise SpecError(problems)
    return tuple(records)


def _find_document(documents: tuple[Document, ...], file: str) -> Document:
    if len(documents) != 1:
        raise SpecError([_refuse(Place(file), f"it holds {len(documents)} documents")])
    (document,) = documents
    kind = document.value.get("kind") if isinstance(document.value, dict) else None
    if isinstance(document.value, dict) and kind == KIND:
        return document
    if isinstance(kind, str):
        raise SpecError([_refuse(document.place(("kind",)), f'it holds a document of kind "{kind[:60]}"')])
    raise SpecError([_refuse(document.place(), "it holds something else")])


def _parse_record(document: Document) -> Spec[Rehearsal]:
    try:
        value = msgspec.convert(document.value, Rehearsal, dec_hook=decode_custom)
    except msgspec.ValidationError as error:
        from poolwright.specs.shape import check_shape  # here: it takes long to load, and most files have no mistake

        findings = check_shape(document, KIND)
        if not findings:
            raise AssertionError(f"{document.file}: the reader refuses what the schema takes: {error}") from error
        raise SpecError(findings) from None
    return Spec(value=value, document=document)


def _check_entries(record: Spec[Rehearsal]) -> Iterator[Finding]:
    """Drivers that stand twice in a list that is keyed by name."""
    spec = record.value.spec
    ends = {("combination",): spec.combination, ("from",): spec.from_, ("to",): spec.to}
    for path, end in ends.items():
        names = [] if end is None else [driver.name for driver in end.dra_drivers]
        yield from repeated_entries(record, ("spec", *path, "draDrivers"), names)


def _check_names(records: list[Spec[Rehearsal]]) -> Iterator[Finding]:
    first: dict[str, Place] = {}
    for record in records:
        name, place = record.value.identity, record.place("metadata", "name")
        if name in first:
            yield repeated(place, f'the rehearsal "{name}"', first[name])
        first.setdefault(name, place)


def _refuse(place: Place, what: str) -> Finding:
    return Finding(
        code="rehearsal-file",
        severity="error",
        place=place,
        what=f"{what}, and a file under {REHEARSAL_FOLDER}/ is one {KIND}",
        why="a record is added as a file of its own and never edited, so that history shows who added which",
        rule=_RULE,
        fix=f"write one document with kind: {KIND}, or move the file to where its kind belongs",
    )
