"""The version step that each changed spec took, and the one that it deserves.

major: something that others rely on goes away or narrows, or a verdict gets worse. minor: rendered objects differ
otherwise. patch: nothing differs outside labels and annotations. Pools and envelopes have versions; no other spec does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from semver import Version

from poolwright.changes.report import SpecStep, Step, WorkloadChange
from poolwright.changes.side import Side
from poolwright.changes.steps.envelope import judge_envelope
from poolwright.changes.steps.pool import judge_pool
from poolwright.specs.canonical import canonical_json
from poolwright.specs.finding import Finding
from poolwright.specs.model import plain_spec
from poolwright.specs.parse import PROJECT_FILE, Spec
from poolwright.specs.place import Place
from poolwright.specs.pool import Pool

_ORDER: Final[tuple[Step, ...]] = ("none", "patch", "minor", "major")


def list_steps(before: Side, after: Side, workloads: Iterable[WorkloadChange]) -> Iterator[SpecStep]:
    """Of each pool that both sides have and that differs, and of each envelope version that is new; by kind and name.

    workloads: of all clusters, with the way their verdicts went.
    """
    worse = {(one.cluster, one.name): one for one in workloads if one.change == "worse"}
    for name in sorted(after.specs.pools_by_name.keys() & before.specs.pools_by_name.keys()):
        old, new = before.specs.pools_by_name[name], after.specs.pools_by_name[name]
        if _write(old) == _write(new):
            continue
        deserved, reasons = judge_pool(name, before, after, worse)
        taken = find_step(old.value.metadata.version, new.value.metadata.version)
        if (taken, deserved) != ("none", "none"):  # else it says the same in other words
            yield SpecStep(
                kind="Pool",
                name=name,
                file=new.document.file,
                before=old.value.metadata.version,
                after=new.value.metadata.version,
                taken=taken,
                deserved=deserved,
                reasons=tuple(reasons),
            )
    yield from _list_envelope_steps(before, after, worse)


def check_steps(steps: Iterable[SpecStep], after: Side) -> Iterator[Finding]:
    """An error for a step that is too small or goes back, a note for one that is larger than it need be."""
    for one in steps:
        if one.taken != "back" and _ORDER.index(one.taken) == _ORDER.index(one.deserved):
            continue
        is_small = one.taken == "back" or _ORDER.index(one.taken) < _ORDER.index(one.deserved)
        if one.taken == "none":
            took = f"its version is still {one.after}"
        else:
            took = f"{one.before} -> {one.after} is {'a step back' if one.taken == 'back' else f'a {one.taken} step'}"
        least = _bump(one.before, one.deserved)
        yield Finding(
            code="step-too-small" if is_small else "step-too-large",
            severity="error" if is_small else "note",
            place=_find_place(one, after),
            what=f"{one.kind} {one.name}: {took}, and the change deserves "
            f"{'none' if one.deserved == 'none' else f'a {one.deserved} one'}"
            f"{': ' + '; '.join(one.reasons) if one.reasons else ''}",
            why="who pins or reads versions takes a small step for one that can't hurt"
            if is_small
            else "who reads it will look for a break that isn't there",
            rule="Semantic Versioning 2.0.0, as poolwright diff applies it",
            fix=f"write version: {least}" if is_small else f"{least} would say it; a larger step is allowed",
        )


def find_step(before: str, after: str) -> Step | Literal["back"]:
    """The step between two versions; one of pre-releases alone is a patch."""
    old, new = Version.parse(before), Version.parse(after)
    if old == new:
        return "none"
    if new < old:
        return "back"
    if old.major != new.major:
        return "major"
    return "minor" if old.minor != new.minor else "patch"


def _list_envelope_steps(before: Side, after: Side, worse: dict[tuple[str, str], WorkloadChange]) -> Iterator[SpecStep]:
    """Of each version that is new, from the one before it that either side has."""
    names = before.bases.keys()
    for spec in sorted(after.specs.envelopes, key=lambda one: one.value.identity):
        meta = spec.value.metadata
        if spec.value.identity in names:
            continue
        versions = {
            one.value.metadata.version
            for one in (*before.specs.envelopes, *after.specs.envelopes)
            if one.value.metadata.name == meta.name
        }
        earlier = _find_earlier(meta.version, versions)
        if earlier is None:
            continue
        deserved, reasons = judge_envelope(meta.name, earlier, meta.version, before, after, worse)
        yield SpecStep(
            kind="Envelope",
            name=meta.name,
            file=spec.document.file,
            before=earlier,
            after=meta.version,
            taken=find_step(earlier, meta.version),
            deserved=deserved,
            reasons=tuple(reasons),
        )


def _write(spec: Spec[Pool]) -> bytes:
    """As text: of two values, true would equal 1."""
    return canonical_json(plain_spec(spec.value))


def _find_earlier(version: str, versions: Iterable[str]) -> str | None:
    """The highest lower one; pre-releases of the version itself aside, which promise nothing."""
    new = Version.parse(version)
    core = new.finalize_version()
    lower = [one for one in map(Version.parse, versions) if one < new and one.finalize_version() != core]
    return str(max(lower)) if lower else None


def _bump(version: str, step: Step) -> str:
    """The least version that takes such a step. Below 1.0.0 too: a step says what changed, not how ready it is."""
    parsed = Version.parse(version)
    match step:
        case "major":
            return str(parsed.bump_major())
        case "minor":
            return str(parsed.bump_minor())
        case "patch":
            return str(parsed.bump_patch())
    return version


def _find_place(one: SpecStep, after: Side) -> Place:
    if one.kind == "Pool":
        return after.specs.pools_by_name[one.name].place("metadata", "version")
    spec = after.specs.envelopes_by_identity.get(f"{one.name}@{one.after}")
    return Place(PROJECT_FILE) if spec is None else spec.place("metadata", "version")
