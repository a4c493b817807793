"""The bytes of a snapshot to its value: every problem, each with its line. They are anybody's: nothing is trusted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import jsonschema_rs

from poolwright.snapshots.cleanse import cleanse, is_secret
from poolwright.snapshots.schema import header_schema, object_schema
from poolwright.snapshots.snapshot import KIND, MAX_BYTES, Header, Json, ObjectKey, Snapshot, object_key
from poolwright.specs.canonical import canonical_json
from poolwright.specs.document import MAX_DEPTH, MAX_NUMBER, MAX_PROBLEMS
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath, Place, render_field

MAX_VALUES: Final = 4_000_000  # counted as separators and brackets; each takes some hundred bytes of memory
_ONE_FORM: Final = "a digest stands for the bytes, so that equal captures have to be equal bytes"


def parse_snapshot(data: bytes, file: str) -> Snapshot:
    """A snapshot that `render_snapshot` could have written.

    file:   what it is called in findings.
    Raises: SpecError with every problem, at most MAX_PROBLEMS: lines that aren't canonical JSON, a header that isn't
            one, objects that are out of order, stand twice or hold what a snapshot doesn't keep.
    Cost:   linear in its size.
    """
    if len(data) > MAX_BYTES:
        raise SpecError([_refuse(file, 0, f"it has more than {MAX_BYTES:,} bytes", "what is read is bounded")])
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise SpecError([_refuse(file, 0, f"it has more than {MAX_VALUES:,} values", "what is read is bounded")])
    problems: list[Finding] = []
    lines = list(_read_lines(data, file, problems))
    header, objects = _read_header(lines, file, problems), [(at, line) for at, line in lines if at > 1]
    _check_order(objects, file, problems)
    if problems or header is None:
        raise SpecError(problems)
    return Snapshot(header=header, objects=tuple(line for _, line in objects))


def _read_lines(data: bytes, file: str, problems: list[Finding]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line that is an object of the right shape, with its number; of the others the problems are added."""
    texts = data.split(b"\n")
    if texts.pop():
        problems.append(_refuse(file, len(texts) + 1, "the last line isn't ended", "it may have been cut short"))
    for number, text in enumerate(texts, 1):
        if len(problems) >= MAX_PROBLEMS:
            return
        try:
            line = _read_line(text)
        except _RefusedError as error:
            problems.append(_refuse(file, number, str(error), _ONE_FORM, column=error.column))
            continue
        found = list(_check_line(line, file, number))
        problems += found[: MAX_PROBLEMS - len(problems)]
        if not found:
            yield number, line


class _RefusedError(Exception):
    """A line that isn't canonical JSON of an object; what it is instead."""

    def __init__(self, what: str, column: int = 1) -> None:
        super().__init__(what)
        self.column = column


def _read_line(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text.decode(), object_pairs_hook=_build_map, parse_int=_parse_int)
        form = canonical_json(value)
    except json.JSONDecodeError as error:
        raise _RefusedError(f"the line isn't JSON: {error.msg}", error.colno) from None
    except UnicodeDecodeError as error:
        raise _RefusedError("the line isn't UTF-8", error.start + 1) from None
    except RecursionError:
        raise _RefusedError(f"the line is nested more than {MAX_DEPTH} levels deep") from None
    except (TypeError, ValueError) as error:
        raise _RefusedError(f"the line has no canonical form: {error}") from None
    if not isinstance(value, dict):
        raise _RefusedError("the line isn't an object")
    if _is_deep(value):
        raise _RefusedError(f"the line is nested more than {MAX_DEPTH} levels deep")
    if form != text:
        at = next((at for at, (one, other) in enumerate(zip(form, text, strict=False)) if one != other), len(form))
        raise _RefusedError("the line isn't canonical JSON: no spaces, keys sorted, one spelling", at + 1)
    return value


def _build_map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError("a map in the line repeats a key")
    return value


def _parse_int(text: str) -> int:
    if len(text) > MAX_NUMBER:
        raise _RefusedError(f"the line has a number of {len(text):,} digits")
    return int(text)


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


@cache
def _validator(is_header: bool) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(header_schema() if is_header else object_schema())


def _check_line(line: dict[str, Any], file: str, number: int) -> Iterator[Finding]:
    """What is wrong with the shape of a line, and what it holds that isn't kept."""
    for error in _validator(number == 1).iter_errors(line):
        path = tuple(error.instance_path)
        why = "the first line is the header" if number == 1 else "each line after the first is an object"
        yield _refuse(file, number, _say(path, error.kind), why, path=path)
    if number == 1:
        return
    if is_secret(line):
        yield _refuse(file, number, "a Secret stands in it", "snapshots are passed on, and hold no secrets", path=())
        return
    for path in cleanse(line).dropped:
        what = f"{render_field(path)} stands in it"
        yield _refuse(file, number, what, "snapshots are passed on, and hold no such values", path=path)


def _say(path: FieldPath, kind: Any) -> str:
    at = render_field(path) or "the line"
    match kind.name:
        case "required":
            return f'"{kind.property}" is missing' + (f" in {at}" if path else "")
        case "additionalProperties":
            return f'unknown field "{str(kind.unexpected[0])[:60]}"' + (f" in {at}" if path else "")
        case "type":
            return f"{at} isn't of the type {' or '.join(str(one) for one in kind.types)}"
        case "enum":
            return f"{at} isn't one of: {', '.join(str(one) for one in kind.options)}"
        case "const":
            return f"{at} isn't {kind.expected_value}"
        case "not":
            return f"{at} is {KIND}: there is one header"
        case "minLength":
            return f"{at} is empty"
        case _:
            return f"{at} isn't what the schema says"


def _read_header(lines: list[tuple[int, dict[str, Any]]], file: str, problems: list[Finding]) -> Header | None:
    if not lines or lines[0][0] != 1:
        if not problems:
            problems.append(_refuse(file, 0, "it is empty", "the first line is the header"))
        return None
    line = lines[0][1]
    return Header(
        cluster=line["cluster"],
        captured_at=line["capturedAt"],
        kubernetes_version=line["kubernetesVersion"],
        resource_versions=line["resourceVersions"],
        layers=line["layers"],
    )


def _check_order(objects: Sequence[tuple[int, Json]], file: str, problems: list[Finding]) -> None:
    before: ObjectKey | None = None
    for number, line in objects:
        key = object_key(line)
        if before is not None and key <= before and len(problems) < MAX_PROBLEMS:
            title = f"{key[1]} {key[2]}/{key[3]}" if key[2] else f"{key[1]} {key[3]}"
            what = f"{title} stands a second time" if key == before else f"{title} is out of order"
            problems.append(_refuse(file, number, what, "objects are sorted by apiVersion, kind, namespace and name"))
        before = key if before is None else max(before, key)


def _refuse(file: str, line: int, what: str, why: str, *, column: int = 1, path: FieldPath = ()) -> Finding:
    return Finding(
        code="snapshot-unreadable",
        severity="error",
        place=Place(file, line, column, render_field(path)) if line else Place(file),
        what=what,
        why=why,
        rule="poolwright snapshot format",
        fix="capture the cluster again; a snapshot is never edited",
    )
