"""Facts of a team's own: files of rows as in the shipped tables, read strictly, and merged with those that ship."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from poolwright.catalog.fact_forms import list_forms
from poolwright.catalog.fact_order import place_rows
from poolwright.catalog.fact_rules import check_facts
from poolwright.catalog.facts import FACT_TABLES, Disagreement, Fact, Facts
from poolwright.catalog.readings import parse_value, render_value
from poolwright.catalog.tables.keys import KEYS, Key, row_key, say_key
from poolwright.specs.document import MAX_PROBLEMS, Document, Plain, parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, Place, render_field

FACT_FOLDER: Final = "facts"
_RULE: Final = "poolwright facts of a project"
_MOST: Final = 1 << 40  # MiB of memory, thousandths of bytes, ports: all are far below
_ASIDE: Final = frozenset(Fact.__struct_encode_fields__)  # what a row rests on, and no fact


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRow:
    """A row that a team wrote."""

    fact: Fact
    document: Document
    index: int

    def place(self, field: str | None = None) -> Place:
        """Where the row stands, or a field of it by its name in the table."""
        path: FieldPath = ("facts", self.index)
        return self.document.place((*path, field) if field else path)


def merge_facts(facts: Facts, files: Mapping[str, bytes]) -> Facts:
    """The facts with a team's: rows of new keys are added, the others override, and what they say else stays beside.

    files:  text by path, `facts/TABLE.yaml` or .json: maps `{facts: [rows]}`.
    Raises: SpecError with everything that is wrong with any of them, or between them and the tables.
    """
    own, problems = _parse_files(facts, files)
    if not problems:
        for table, rows in own.items():
            facts = _merge_table(facts, table, [row.fact for row in rows])
        problems = [*check_facts(facts, own)]
    if problems:
        raise SpecError(problems[:MAX_PROBLEMS])
    return facts


def _parse_files(facts: Facts, files: Mapping[str, bytes]) -> tuple[dict[str, list[OwnRow]], list[Finding]]:
    """Rows by table, sorted, and what is wrong with each file by itself."""
    own: dict[str, list[OwnRow]] = {}
    problems: list[Finding] = []
    for path in sorted(files):
        table = path.rpartition("/")[2].rpartition(".")[0]
        if table not in FACT_TABLES:
            problems.append(_unknown_table(path, table))
            continue
        try:
            documents = parse_documents(files[path], path)
        except SpecError as error:
            problems += error.findings
            continue
        problems += [] if documents else [_empty(path)]
        for document in documents:
            rows, found = _parse_rows(document, table, facts.table(table))
            own.setdefault(table, []).extend(rows)
            problems += found
    for table, rows in own.items():
        problems += _find_repeated(table, rows)
    return {table: own[table] for table in sorted(own)}, problems


def _parse_rows(document: Document, table: str, shipped: Sequence[Fact]) -> tuple[list[OwnRow], list[Finding]]:
    """The rows of a document that have their table's shape, and what is wrong with it."""
    value, kind = document.value, type(shipped[0])
    copied = {other for fact in shipped for other in fact.disagreements}  # words that no field holds among them
    is_map = isinstance(value, dict) and set(value) == {"facts"}
    plain = value["facts"] if isinstance(value, dict) and is_map else None
    rows, bad = [], not isinstance(plain, list)
    problems: list[Finding] = []
    for index, item in enumerate(plain if isinstance(plain, list) else ()):
        problems += _check_texts(document, index, item, table)
        try:
            rows.append(OwnRow(fact=msgspec.convert(item, kind), document=document, index=index))
        except msgspec.ValidationError:
            bad = True
    problems += _check_shape(document, kind) if bad else ()
    for row in rows:
        problems += [*_check_numbers(row), *_check_disagreements(row, table, copied)]
    return rows, problems


def _check_shape(document: Document, kind: type[Fact]) -> tuple[Finding, ...]:
    """What is wrong with a document that the strict reading has refused."""
    from poolwright.specs.shape import check_against  # here: the schema's validator takes long to load

    shape = check_against(document, _build_schema(kind))
    if not shape:
        raise AssertionError(f"{document.file}: the reader refuses what the schema takes")
    return shape


def _build_schema(kind: type[Fact]) -> dict[str, Any]:
    """The JSON Schema of a table's file."""
    definitions = msgspec.json.schema(kind)["$defs"]
    fields = definitions[kind.__name__]["properties"]
    fields["source"]["description"] = "where it can be read, for whoever doubts it"
    fields["date"]["description"] = "the day whose state of the source was read"
    fields["verified"]["description"] = "whether the source itself was read, and not somebody's account of it"
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"$ref": f"#/$defs/{kind.__name__}"}}},
        "required": ["facts"],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _check_texts(document: Document, index: int, item: Plain, table: str) -> Iterator[Finding]:
    """Texts of a row, whatever else is wrong with it, that something is computed from and that aren't what it takes."""
    for name, form in list_forms(table).items():
        value = item.get(name) if isinstance(item, dict) else None
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and (why := form.refuse(text)):
                path: FieldPath = ("facts", index, name)
                what = f'{render_field(path)} is "{text[:60]}"'
                yield _finding("invalid-value", document.place(path), what, why, f"write it as in {form.example}")


def _check_numbers(row: OwnRow) -> Iterator[Finding]:
    """Amounts that are none: negative ones, and those that no device has."""
    for name, value in zip(row.fact.__struct_encode_fields__, msgspec.structs.astuple(row.fact), strict=True):
        numbers = [one for one in _flatten(msgspec.to_builtins(value)) if not 0 <= one <= _MOST]
        if numbers:
            what = f"{render_field(('facts', row.index, name))} has the number {str(numbers[0])[:30]}"
            why = "numbers of facts are amounts, which are added and compared"
            yield _finding("out-of-range", row.place(name), what, why, f"write 0 to {_MOST:,}")


def _flatten(value: object) -> Iterator[int]:
    """The integers in a field's value."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _flatten(part)


def _check_disagreements(row: OwnRow, table: str, copied: Collection[Disagreement]) -> Iterator[Finding]:
    """What a row says that others say: of a field that the table has, and a value that it takes."""
    types = {one.encode_name: one.type for one in msgspec.structs.fields(row.fact)}
    forms = list_forms(table)
    for index, other in enumerate(row.fact.disagreements):
        if other in copied:
            continue
        place = row.document.place(("facts", row.index, "disagreements", index))
        known = [name for name in types if name not in _ASIDE]
        if other.field not in known:
            what = f'a disagreement is about "{other.field[:60]}", which the rows of {table} don\'t have'
            why = "another source says something else of a field, or nothing"
            yield _finding("unknown-value", place, what, why, f"name one of: {', '.join(known)}")
            continue
        form = forms.get(other.field)
        try:
            value = parse_value(other.value, types[other.field])
        except ValueError:
            value, form = None, None
            why = "it is compared with the row's own"
            what = f'a disagreement says "{other.value[:60]}" of {other.field}, which is no value of it'
            yield _finding("invalid-value", place, what, why, "write the value as the field takes it")
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and form and (why := form.refuse(text)):
                what = f'a disagreement says "{text[:60]}" of {other.field}'
                yield _finding("invalid-value", place, what, why, f"write it as in {form.example}")


def _find_repeated(table: str, rows: Sequence[OwnRow]) -> Iterator[Finding]:
    first: dict[Key, OwnRow] = {}
    for row in rows:
        key = row_key(table, row.fact)
        before = first.setdefault(key, row)
        if before is not row:
            what = f"a second row of {table} about {say_key(key)[:200]}; the first is at {before.place()}"
            why = f"a row is found by {', '.join(KEYS[table])}: one of the two would have no effect"
            fix = "keep one, and write what the other source says into its disagreements"
            yield _finding("fact-repeated", row.place(), what, why, fix)


def _merge_table(facts: Facts, table: str, own: Sequence[Fact]) -> Facts:
    """Overriding rows stand where the overridden ones stood, the others by their order among those of their kind."""
    by_key = {row_key(table, fact): fact for fact in own}
    shipped = facts.table(table)
    merged = [_override(fact, by_key.pop(key)) if (key := row_key(table, fact)) in by_key else fact for fact in shipped]
    replaced = {index for index, (old, new) in enumerate(zip(shipped, merged, strict=True)) if old is not new}
    rows, places = place_rows(table, merged, [*by_key.values()])
    own_places = {place for place, index in enumerate(places) if index is None or index in replaced}
    return facts.with_rows(table, rows, frozenset(own_places))


def _override(shipped: Fact, own: Fact) -> Fact:
    """A team's row with what the shipped one says else, and with the disagreements of both."""
    fields = zip(shipped.__struct_fields__, shipped.__struct_encode_fields__, strict=True)
    said = [
        Disagreement(field=name, value=render_value(getattr(shipped, field)), source=shipped.source)
        for field, name in fields
        if _is_said(name) and getattr(shipped, field) != getattr(own, field)
    ]
    values = {
        name: render_value(getattr(own, field))
        for field, name in zip(own.__struct_fields__, own.__struct_encode_fields__, strict=True)
    }
    kept = [other for other in shipped.disagreements if values.get(other.field) != other.value]
    both = dict.fromkeys([*own.disagreements, *said, *kept])
    return msgspec.structs.replace(own, disagreements=tuple(both))


def _is_said(name: str) -> bool:
    """Whether a field is a fact, and not how sure it is or where it was seen."""
    return name not in _ASIDE and not name.endswith(("Verified", "Basis"))


def _unknown_table(path: str, table: str) -> Finding:
    import difflib  # here: nothing but this message needs it

    near = difflib.get_close_matches(table, FACT_TABLES, 1, 0.6)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    why = f"files in {FACT_FOLDER}/ are called as the table whose rows they add or override"
    fix = f"{hint}known: {', '.join(FACT_TABLES)}"
    return _finding("fact-table-unknown", Place(path), f'there is no table of facts "{table[:60]}"', why, fix)


def _empty(path: str) -> Finding:
    what, why = '"facts" is missing', "it is required: the rows that the file adds or overrides"
    return _finding("missing-field", Place(path), what, why, 'add "facts", or remove the file')


def _finding(code: str, place: Place, what: str, why: str, fix: str) -> Finding:
    return Finding(code=code, severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)
