"""Where Argo CD puts what is rendered, and where it takes it from: a change of that moves everything at once."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.changes.side import Side
from poolwright.changes.verdicts import RULE
from poolwright.specs.finding import Finding
from poolwright.specs.model import plain_spec
from poolwright.specs.place import Place
from poolwright.specs.project import Destination


def check_destinations(before: Side, after: Side) -> Iterator[Finding]:
    """A warning for the project's name, its repository, and each cluster's destination, if they are other ones."""
    if not before.specs.projects or not after.specs.projects:
        return
    old, new = before.specs.project.value, after.specs.project
    if old.metadata.name != new.value.metadata.name:
        what = f"the project is called {new.value.metadata.name}, before {old.metadata.name}"
        yield _build(new.place("metadata", "name"), what, "the AppProject of every cluster gets another name")
    if old.spec.argocd != new.value.spec.argocd:
        moved = f"{_say(old.spec.argocd)} -> {_say(new.value.spec.argocd)}"
        yield _build(
            new.place("spec", "argocd"),
            f"Argo CD takes everything from elsewhere: {moved}",
            "every Application of every cluster follows at the next sync",
        )
    known = {one.name: one.destination for one in old.spec.clusters}
    for at, cluster in enumerate(new.value.spec.clusters):
        was = known.get(cluster.name)
        if was is not None and was != cluster.destination:
            yield _build(
                new.place("spec", "clusters", at, "destination"),
                f"what is rendered for {cluster.name} goes to {_name(cluster.destination)}, before {_name(was)}",
                "all of it is created there anew; what runs at the old place runs on, and nobody looks after it",
            )


def _name(destination: Destination) -> str:
    return destination.name or destination.server or ""


def _say(value: object) -> str:
    said = plain_spec(value)
    return ", ".join(f"{key} {part}" for key, part in said.items()) if isinstance(said, dict) else str(said)


def _build(place: Place, what: str, why: str) -> Finding:
    return Finding(
        code="destination-changed",
        severity="warning",
        place=place,
        what=what,
        why=why,
        rule=RULE,
        fix="if that is meant, drain the old place first, and say so in the pull request",
    )
