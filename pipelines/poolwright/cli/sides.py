"""The sides of a change read: a project's folder to everything that is compared."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.catalog.closure import BaseClosure
from poolwright.changes.report import Report, Revision
from poolwright.changes.side import ClusterSide, Side
from poolwright.cli.built_objects import Workshop, list_cluster_objects
from poolwright.cli.ends import THE_PROJECT, has_project
from poolwright.cli.live import OptionError, choose_cluster, judge_captured
from poolwright.cli.load import find_inventory
from poolwright.cli.plain_side import read_plain_side
from poolwright.cli.plan_case import LoadedForPlan, check_nodes, load_for_plan
from poolwright.cli.progress import Progress
from poolwright.files.facts import read_facts
from poolwright.files.project import MAX_INVENTORY_BYTES, read_named_files
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.equivalence import is_equivalent
from poolwright.plan.verdict import Judgement
from poolwright.specs.digest import Digest, digest_bytes
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place
from poolwright.specs.resolve import resolve_cluster
from poolwright.specs.waiver import strip_waivers

_KEPT: Final = 2  # demands of a cluster: the base's, or of the commit before


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSide:
    """A side whose clusters aren't judged yet: of those that both sides have alike nothing need be said."""

    side: Side  # without its clusters, if it is a project
    given: LoadedForPlan | None = None  # None: plain manifests, which are judged already

    def describe(self, name: str) -> tuple[object, ...] | None:
        """Everything that what is said of a cluster follows from; None: there is no such cluster."""
        if self.given is None or name not in self.given.clusters:
            return None
        loaded, specs = self.given.project, self.side.specs
        on = resolve_cluster(specs, name)[0]
        return (
            on and (on.cluster, on.stack.value.identity, strip_waivers(on.stack.value.spec)),
            specs.project.value.spec.tiers,
            [
                (pool.value.metadata, strip_waivers(pool.value.spec))
                for pool in specs.pools
                if pool.value.spec.cluster_name == name
            ],
            {unit: strip_waivers(one.value.spec) for unit, one in specs.placements_by_cluster.get(name, {}).items()},
            [one for one in loaded.closures if not isinstance(one, BaseClosure) and one.on.cluster == name],
            self.digest_inventory(name),
            loaded.facts.texts,
        )

    def digest_inventory(self, name: str) -> Digest | None:
        """Of the file with its captured nodes and devices."""
        if self.given is None:
            return None
        root = self.given.project.root
        on = resolve_cluster(self.side.specs, name)[0]
        path = "" if on is None else find_inventory(on.cluster)
        data = read_named_files(root, [path], max_bytes=MAX_INVENTORY_BYTES).get(path)
        return None if data is None else digest_bytes(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A change, and the two sides that it lies between, with the clusters that differ."""

    report: Report
    before: Side
    after: Side
    given: LoadedForPlan | None  # the head's project; None: plain manifests


class SideReader:
    """Reads the sides of a change, and judges what of them differs; what they have alike is built and judged once."""

    def __init__(self, progress: Progress, captured: ClusterObjects | None = None) -> None:
        """captured: one cluster as it runs; None: nothing is said of what runs."""
        self._progress = progress
        self._captured = captured
        self._live_cluster: str | None = None
        self.workshop = Workshop()  # builds the units of all sides
        self._judged: dict[str, list[tuple[Demand, Judgement]]] = {}

    def read(self, folder: str, revision: Revision, *, is_project: bool = True) -> ReadSide:
        """The project in a folder, or the plain manifests below it.

        Raises: SpecError with everything that is wrong.
        """
        self._progress.tell(f"reading {revision.name}")
        if not is_project:
            return ReadSide(side=read_plain_side(folder, revision, read_facts()))
        if not has_project(folder):
            raise SpecError([_no_project(revision)])
        given = load_for_plan(folder)
        loaded = given.project
        side = Side(
            revision=revision,
            project=loaded.specs.project.value.identity,
            clusters={},
            specs=loaded.specs,
            closures=loaded.closures,
            lock=loaded.lock,
        )
        return ReadSide(side=side, given=given)

    def choose_live(self, before: ReadSide, after: ReadSide, asked: str | None) -> None:
        """Settle which cluster was captured, if one was; asked: by --cluster. Raises: OptionError."""
        if self._captured is None:
            return
        if after.given is None:
            raise OptionError("--live", "plain manifests are judged by what is in them; put what runs beside them")
        self._live_cluster = choose_cluster(asked, tuple(_list_clusters(before, after)))

    def judge(self, before: ReadSide, after: ReadSide) -> tuple[Side, Side, tuple[str, ...]]:
        """Both with those of their clusters that differ, or were captured as they run, and the names of the others.

        Raises: SpecError with every object that an API server refuses; SnapshotError.
        """
        names = _list_clusters(before, after)
        same = {one for one in names if before.describe(one) == after.describe(one) and one != self._live_cluster}
        sides = [self._judge_side(one, same) for one in (before, after)]
        return sides[0], sides[1], tuple(sorted(same))

    def _judge_side(self, read: ReadSide, same: Collection[str]) -> Side:
        given = read.given
        if given is None:
            return read.side
        names = [one for one in given.clusters if one not in same]
        clusters = {one: self.judge_cluster(read, one) for one in self._progress.each(names)}
        return replace(read.side, clusters=clusters)

    def judge_cluster(self, read: ReadSide, name: str) -> ClusterSide:
        """One cluster of a project, whether or not another side has it alike.

        Raises: SpecError with every object that an API server refuses; SnapshotError.
        """
        given = read.given
        if given is None:
            raise AssertionError(f"{name}: plain manifests have no clusters")
        try:
            case = given.build_case(name, self.workshop)
            check_nodes(case)
            loaded = given.project
            objects = list_cluster_objects(self.workshop, loaded.closures, loaded.customs, name)
        except SpecError as error:
            raise SpecError(name_files(error.findings, read.side.revision)) from None
        self._progress.tell("judging")
        live = None
        if self._captured is not None and name == self._live_cluster:
            live = judge_captured(self._captured, case.objects, case.cluster, case.inventory)
        return ClusterSide(
            plan=case.cluster,
            demand=case.demand,
            judgement=self._judge(name, case.demand),
            live=live,
            prices=case.price().prices,
            inventory=read.digest_inventory(name),
            objects=objects,
            asked_by=f"poolwright plan --cluster {name}",
        )

    def _judge(self, name: str, demand: Demand) -> Judgement:
        known = self._judged.setdefault(name, [])
        for other, judgement in known:
            if is_equivalent(other, demand):
                return judgement
        judgement = judge(demand)
        known.append((demand, judgement))
        del known[:-_KEPT]
        return judgement


def name_files(findings: Sequence[Finding], revision: Revision) -> list[Finding]:
    """Findings with files as Git names them, REVISION:FILE, or below the folder, as it was named, that is compared.

    Those of the project's folder as it is on disk are named as they always are.
    """
    if revision is THE_PROJECT:
        return list(findings)
    top = f"{revision.name.rstrip('/')}/" if revision.commit is None else f"{revision.name}:"
    files = {one.place.file: f"{top}{one.place.file}" for one in findings} | {".": revision.name}
    return [
        msgspec.structs.replace(one, place=msgspec.structs.replace(one.place, file=files[one.place.file]))
        for one in findings
    ]


def _list_clusters(*sides: ReadSide) -> list[str]:
    """Those of all sides, each once."""
    return list(dict.fromkeys(name for one in sides if one.given is not None for name in one.given.clusters))


def _no_project(revision: Revision) -> Finding:
    is_here = revision is THE_PROJECT
    return Finding(
        code="project-missing",
        severity="error",
        place=Place(PROJECT_FILE),
        what=f"{'the project as it is on disk' if is_here else 'this side'} has no {PROJECT_FILE}, and the other has",
        why="that everything goes away is nothing to compare: it is to be said by an empty project, cluster by cluster",
        rule="poolwright diff",
        fix="name both sides, as of a bare repository: poolwright diff BASE HEAD"
        if is_here
        else "name a revision that has the project, or pass --project DIR where it stands on both sides",
    )
