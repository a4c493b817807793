"""Records that prove nothing, whatever they are of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

from poolwright.matrix.fields import list_changes
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath
from poolwright.specs.rehearsal import OtherEnd, Rehearsal, RehearsalSpec, Step

MAX_CHANGES: Final = 3  # changes by hand that a finding repeats
_RULE: Final = "poolwright.dev/v1alpha1"
# Which step says what the other end was, and by which field.
_ENDS: Final[dict[Step, str]] = {"upgrade": "from", "rollback": "to"}


def check_record(record: Spec[Rehearsal], *, as_of: dt.date | None, takes_synthetic: bool) -> list[Finding]:
    """Everything that refuses a record; empty: it counts.

    as_of: the day that is judged on; None: dates aren't compared.
    """
    return [
        Finding(
            code="rehearsal-refused",
            severity="warning",
            place=record.place(*path),
            what=f'rehearsal "{record.value.identity}" {what}',
            why=why,
            rule=_RULE,
            fix=fix,
        )
        for path, what, why, fix in _list_reasons(record.value.spec, as_of, takes_synthetic=takes_synthetic)
    ]


Reason = tuple[FieldPath, str, str, str]  # where, what, why and fix


def _list_reasons(spec: RehearsalSpec, as_of: dt.date | None, *, takes_synthetic: bool) -> Iterator[Reason]:
    if spec.node_changes:
        count = len(spec.node_changes)
        shown = "; ".join(spec.node_changes[:MAX_CHANGES]) + ("; ..." if count > MAX_CHANGES else "")
        what = f"was carried out with {count} node change{'' if count == 1 else 's'} by hand: {shown}"
        why = "what somebody changed by hand isn't in Git, so the next node won't have it"
        yield ("spec", "nodeChanges"), what, why, "put the change where nodes get it from, and rehearse again"
    if as_of is not None and spec.date.date > as_of:
        what, why = f"is of {spec.date}, after {as_of}", "what hasn't happened yet proves nothing"
        yield ("spec", "date"), what, why, "correct the date in a new record, or judge as of a later day"
    if spec.synthetic and not takes_synthetic:
        why = "nobody carried it out: such records are for examples"
        fix = "rehearse the step; only an example's Project says `syntheticRehearsals: accepted`"
        yield ("spec", "synthetic"), "is synthetic", why, fix
    for field, end in (("from", spec.from_), ("to", spec.to)):
        yield from _check_end(spec, field, end)


def _check_end(spec: RehearsalSpec, field: str, end: OtherEnd | None) -> Iterator[Reason]:
    wanted = _ENDS.get(spec.step)
    if end is None and field == wanted:
        why = f"an {spec.step}" if spec.step == "upgrade" else f"a {spec.step}"
        yield (
            ("spec", "step"),
            f'is of the step {spec.step} and doesn\'t say "{field}"',
            f"{why} is between two combinations, and only one of them is known",
            f"write a new record with `{field}`: what differed at the other end",
        )
    elif end is not None and field != wanted:
        yield (
            ("spec", field),
            f'is of the step {spec.step} and says "{field}"',
            "upgrades come from another combination and rollbacks go to one; other steps have one end",
            "write a new record with the step that was carried out, or without the field",
        )
    elif end is not None and not list_changes(spec.combination, end):
        yield (
            ("spec", field),
            f'says "{field}" and nothing that differed there',
            "from a combination to the same one nothing is rehearsed",
            "write what differed at the other end",
        )
