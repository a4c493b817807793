"""What a new envelope version means to those who call the model and those who run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from poolwright.catalog.closure import EnvelopeClosure, UnitClosure
from poolwright.changes.report import Step, WorkloadChange
from poolwright.changes.side import Side
from poolwright.changes.steps.outside import strip_labels
from poolwright.objects.envelope import build_envelope
from poolwright.specs.envelope import EnvelopeSpec


def judge_envelope(
    name: str,
    earlier: str,
    version: str,
    before: Side,
    after: Side,
    worse: Mapping[tuple[str, str], WorkloadChange],
) -> tuple[Step, list[str]]:
    """The step from one version to a new one, and why.

    worse: workloads whose verdict got worse, by cluster and NAMESPACE/NAME.
    """
    bases = {**before.bases, **after.bases}
    old, new = bases[f"{name}@{earlier}"].envelope, after.bases[f"{name}@{version}"].envelope
    decides = _claims(old) != _claims(new)
    major = [*_list_broken(old.spec, new.spec), *(_list_worse(name, version, after, worse) if decides else ())]
    if major:
        return "major", major
    if _render(old) != _render(_rename(new, old)):
        return "minor", ["what it renders differs"]
    if decides:
        return "minor", ["what it claims, or where it may be placed, differs"]
    return "patch", ["nothing that is rendered differs outside labels and annotations"]


def _render(one: EnvelopeClosure) -> list[object]:
    """Its objects without the record: that repeats the spec word for word, and is read by people."""
    return strip_labels(part for part in build_envelope(one) if part["kind"] != "ConfigMap")


def _rename(new: EnvelopeClosure, old: EnvelopeClosure) -> EnvelopeClosure:
    """With the other's version, which is written into objects and is no difference by itself."""
    return replace(new, version=old.version)


def _claims(one: EnvelopeClosure) -> tuple[object, ...]:
    """What a base's objects don't show: it is decided by cluster."""
    spec = one.spec
    return (
        *(
            spec.compute_class,
            spec.replica_behavior,
            spec.isolation,
            spec.topology,
            spec.claim,
            spec.recovery,
            spec.slo,
        ),
        *(spec.load, spec.adapters, spec.engine, spec.sidecars, spec.router, spec.precision),
        *(one.files, spec.model.weights_size, spec.model.measured_profile),
    )


def _list_broken(old: EnvelopeSpec, new: EnvelopeSpec) -> Iterator[str]:
    """What clients, routes or other workloads rely on, and isn't there any more or is less."""
    if old.namespace != new.namespace:
        yield f"its namespace is {new.namespace}, before {old.namespace}"
    if old.model.name != new.model.name:
        yield f"it serves {new.model.name}, before {old.model.name}"
    if old.model.digest != new.model.digest:
        yield "the digest of the weights is another one"
    if old.engine.type != new.engine.type:
        yield f"its engine is {new.engine.type}, before {old.engine.type}"
    if old.claim.pattern != new.claim.pattern:
        yield f"its claim pattern is {new.claim.pattern}, before {old.claim.pattern}"
    if old.claim.name != new.claim.name:
        yield f"its named claim is {new.claim.name or 'gone'}, before {old.claim.name or 'none'}"
    for one in old.claim.consumers:
        if (one.kind, one.name) not in [(other.kind, other.name) for other in new.claim.consumers]:
            yield f"{one.kind} {one.name} may use its claim no longer"
    if new.load.context_tokens < old.load.context_tokens:
        yield f"requests may have {new.load.context_tokens} tokens, before {old.load.context_tokens}"
    kept = {one.name: one for one in new.adapters.items} if new.adapters else {}
    for adapter in old.adapters.items if old.adapters else ():
        if adapter.name not in kept:
            yield f"adapter {adapter.name} goes away"
        elif adapter.digest != kept[adapter.name].digest:
            yield f"the digest of adapter {adapter.name} is another one"


def _list_worse(name: str, version: str, after: Side, worse: Mapping[tuple[str, str], WorkloadChange]) -> Iterator[str]:
    for closure in after.closures:
        if not isinstance(closure, UnitClosure):
            continue
        placed = closure.placement.envelope
        if (placed.name, placed.version) != (name, version):
            continue
        title = f"{closure.envelope.spec.namespace}/{closure.unit}"
        one = worse.get((closure.on.cluster, title))
        if one is not None and one.before and one.after:
            was, now = (f"{answer.verdict} {answer.counts}" for answer in (one.before, one.after))
            yield f"{title} on {closure.on.cluster} was {was} and is {now}"
