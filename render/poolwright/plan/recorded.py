"""The witnesses of a plan that was printed before. The document is anybody's: nothing of it is taken on trust."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import jsonschema_rs

from poolwright.allocation.held import DeviceId
from poolwright.plan.device_order import DeviceOrder
from poolwright.plan.report.plan_schema import plan_schema
from poolwright.plan.verdict import Move, Witness
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place, render_field

MAX_BYTES: Final = 64 << 20
MAX_VALUES: Final = 4_000_000  # each takes some hundred bytes of memory
MAX_DEPTH: Final = 32  # a plan has a dozen levels
MAX_DIGITS: Final = 15  # of a number: beyond it readers disagree on what it is

# Serves most; leaves replicas out; ends with a rollout that doesn't move; ends with groups that hold a part each.
Role = Literal["best", "worst", "rollout", "deadlock"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedWitness:
    """A witness, and what it is about."""

    workloads: tuple[str, ...]  # titles: one, but of a deadlock all whose replicas hold a part
    role: Role
    replicas: int  # at the peak, then; of a deadlock those that hold a part
    witness: Witness

    @property
    def title(self) -> str:
        """What it is about, in words."""
        return " and ".join(self.workloads)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCluster:
    """What a plan said of a cluster, as far as it can be replayed."""

    name: str
    kubernetes: str  # the version that it was made for
    scenario: str
    workloads: tuple[str, ...]  # titles of those that verdicts are of, each once
    witnesses: tuple[RecordedWitness, ...]  # in the document's order


def parse_recorded(data: bytes, file: str) -> tuple[RecordedCluster, ...]:
    """The clusters of a document that `plan --format json` printed.

    file:   what it is called in findings.
    Raises: SpecError with the first thing that isn't as in such a document: too large, not JSON, a repeated key, not
            what the schema says, a cluster or workload that stands in it twice.
    Cost:   linear in its size.
    """
    document = _read(data, file)
    _check_shape(document, file)
    clusters = tuple(_build_cluster(one, file) for one in document["clusters"])
    _check_once([one.name for one in clusters], "cluster", file)
    return clusters


def _read(data: bytes, file: str) -> Any:
    if len(data) > MAX_BYTES:
        raise SpecError([_refuse(file, f"it has more than {MAX_BYTES:,} bytes")])
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise SpecError([_refuse(file, f"it has more than {MAX_VALUES:,} values")])
    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=_build_map,
            parse_int=_parse_number,
            parse_float=_parse_number,
            parse_constant=_parse_number,
        )
        _check_values(value)
    except _RefusedError as error:
        raise SpecError([_refuse(file, str(error))]) from None
    except json.JSONDecodeError as error:
        problem = _refuse(file, f"it isn't JSON: {error.msg}", Place(file, error.lineno, error.colno))
        raise SpecError([problem]) from None
    except UnicodeDecodeError:
        raise SpecError([_refuse(file, "it isn't UTF-8")]) from None
    except RecursionError:
        raise SpecError([_refuse(file, f"it is nested more than {MAX_DEPTH} levels deep")]) from None
    return value


class _RefusedError(Exception):
    """JSON of a kind that no plan has."""


def _build_map(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError("a map in it repeats a key")
    return value


def _parse_number(text: str) -> int:
    if len(text) > MAX_DIGITS or not text.removeprefix("-").isdigit():
        raise _RefusedError(f"{text[:20]} is no number that a plan has: whole ones of up to {MAX_DIGITS} digits")
    return int(text)


def _check_values(value: object) -> None:
    """No deep nesting, and no half of a surrogate pair, which no UTF-8 text has."""
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for one in level:
            if isinstance(one, str):
                _check_text(one)
            elif isinstance(one, dict):
                for key in one:
                    _check_text(key)
                below += one.values()
            elif isinstance(one, list):
                below += one
        if not below:
            return
        level = below
    raise _RefusedError(f"it is nested more than {MAX_DEPTH} levels deep")


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _RefusedError("a text in it has half a surrogate pair") from None


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(plan_schema())


def _check_shape(document: object, file: str) -> None:
    """Refuse what the schema has something against. The first such place is said: a list of all takes much memory."""
    try:
        _validator().validate(document)
    except jsonschema_rs.ValidationError as error:
        field = render_field(tuple(error.instance_path))
        what = f"{field or 'the document'}: {_say(error.kind)}"
        raise SpecError([_refuse(file, what, Place(file, field=field))]) from None


def _say(kind: Any) -> str:
    match kind.name:
        case "required":
            return f'"{kind.property}" is missing'
        case "additionalProperties":
            return f'a plan has no "{_cut(str(kind.unexpected[0]))}" here'
        case "type":
            return f"it must be of type {' or '.join(str(one) for one in kind.types)}"
        case "enum":
            return f"it must be one of: {', '.join(str(one) for one in kind.options)}"
        case "const":
            return f"it must be {kind.expected_value}"
        case "minimum":
            return f"it must be at least {kind.limit}"
        case _:
            return "it isn't what the schema says"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _build_cluster(given: Mapping[str, Any], file: str) -> RecordedCluster:
    titles = [one["workload"] for one in given["workloads"]]
    _check_once(titles, "workload", file)
    return RecordedCluster(
        name=given["name"],
        kubernetes=given["kubernetes"],
        scenario=given["scenario"],
        workloads=tuple(titles),
        witnesses=tuple(
            RecordedWitness(workloads=about, role=role, replicas=replicas, witness=_build_witness(witness, file))
            for about, role, replicas, witness in _list_witnesses(given)
            if witness is not None
        ),
    )


def _list_witnesses(given: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Role, int, Any]]:
    for one in given["workloads"]:
        yield (one["workload"],), "best", one["replicas"], one["best"]
        yield (one["workload"],), "worst", one["replicas"], one["worst"]
    for one in given["rollouts"]:
        yield (one["workload"],), "rollout", one["maximum"] + one["surge"], one["witness"]
    for one in given["gangDeadlocks"]:
        yield tuple(one["workloads"]), "deadlock", one["holding"], one["witness"]


def _build_witness(given: Mapping[str, Any], file: str) -> Witness:
    try:
        return Witness(
            moves=tuple(_build_move(one, file) for one in given["moves"]),
            placed=given["placed"],
            replays=given["replays"],
            device_order=_build_order(given["deviceOrder"], file),
        )
    except ValueError:
        said = f'"{given["replays"]}" and its deviceOrder don\'t go together'
        raise SpecError([_refuse(file, said)]) from None


def _build_move(given: Mapping[str, Any], file: str) -> Move:
    return Move(
        workload=given["workload"],
        replica=given["replica"],
        pod=given["pod"],
        node=given["node"],
        devices=tuple(sorted(_build_device(one, file) for one in given["devices"])),
    )


def _build_order(given: object, file: str) -> DeviceOrder:
    if given is None:
        return None
    return tuple(_build_device(one, file) for one in given) if isinstance(given, list) else "reversed"


def _build_device(text: str, file: str) -> DeviceId:
    """`driver/pool/device`; a pool's name may have slashes in it."""
    driver, _, rest = text.partition("/")
    pool, _, device = rest.rpartition("/")
    if not (driver and pool and device):
        raise SpecError([_refuse(file, f'"{_cut(text)}" isn\'t driver/pool/device')])
    return driver, pool, device


def _check_once(names: Sequence[str], what: str, file: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SpecError([_refuse(file, f'the {what} "{_cut(name)}" stands in it twice')])
        seen.add(name)


def _refuse(file: str, what: str, place: Place | None = None) -> Finding:
    return Finding(
        code="plan-unreadable",
        severity="error",
        place=place or Place(file),
        what=what,
        why="only a plan as this version prints it can be replayed",
        rule="poolwright schema FitPlan",
        fix="make one: poolwright plan --format json",
    )
