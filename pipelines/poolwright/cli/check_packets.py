"""Clusters that are delivered by packet: whether the release that the Project names is there, and holds their units.

Who signed it isn't judged: no project has a trust file.
"""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.cli.load import LoadedProject
from poolwright.packet.index import INDEX, RELEASES, PacketError, PacketIndex, parse_index
from poolwright.packet.manifests import list_units
from poolwright.packets.unit import read_index
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
from poolwright.trees.tree import unit_name

_RULE = "poolwright releases"


def check_delivered(loaded: LoadedProject) -> list[Finding]:
    """What is wrong with releases that clusters are delivered from. Cost: each of their indexes is read once."""
    project = loaded.specs.project
    indexes: dict[str, PacketIndex | Finding] = {}
    found: list[Finding] = []
    for number, cluster in enumerate(project.value.spec.clusters):
        if cluster.release is None:
            continue
        place = project.place("spec", "clusters", number, "release")
        if cluster.release not in indexes:
            indexes[cluster.release] = _read(loaded.root, cluster.release, project.value.identity, place)
        index = indexes[cluster.release]
        found += [index] if isinstance(index, Finding) else _check_units(loaded, index, cluster.name, place)
    return found


def _read(root: str, release: str, project: str, place: Place) -> PacketIndex | Finding:
    """The index, or why none of the clusters can be delivered from it; what the first of them says is enough."""
    try:
        index = parse_index(read_index(root, release))
    except SpecError as error:
        return error.findings[0]
    except PacketError as error:
        return _say(Place(f"{RELEASES}/{release}/{INDEX}"), str(error), "release again, or name another release")
    if (index.project, index.name) != (project, release):
        what = f"{RELEASES}/{release} has release {index.name} of {index.project}"
        return _say(place, what, f"name a release of {project}")
    return index


def _check_units(loaded: LoadedProject, index: PacketIndex, cluster: str, place: Place) -> Iterator[Finding]:
    known = list_units(index, cluster)
    units = [one for one in loaded.closures if isinstance(one, UnitClosure | PlatformClosure)]
    names = [unit_name(one).rpartition("/")[2] for one in units if one.on.cluster == cluster]
    if not known:
        yield _say(place, f"release {index.name} holds nothing of {cluster}", "release again, and name that release")
    elif missing := sorted(set(names) - set(known)):
        yield Finding(
            code="packet-unit",
            severity="warning",
            place=place,
            what=f"release {index.name} doesn't hold {', '.join(f'{cluster}/{name}' for name in missing)}",
            why="what the specs have and the release hasn't is refused by the plugin, until a later release is named",
            rule=_RULE,
            fix="release again once this is merged, and name that release",
        )


def _say(place: Place, what: str, fix: str) -> Finding:
    return Finding(
        code="packet-unit",
        severity="error",
        place=place,
        what=what,
        why="none of the cluster's units could be delivered",
        rule=_RULE,
        fix=fix,
    )
