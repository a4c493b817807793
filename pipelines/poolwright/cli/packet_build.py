"""A packet from a commit: everything is read, judged and rendered from what was committed, and from nothing else."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from poolwright.changes.build_report import build_report
from poolwright.changes.finding_rows import build_rows, parse_rows
from poolwright.changes.report import Report, Revision
from poolwright.changes.side import ClusterSide, Side
from poolwright.cli.check import Problems, list_problems
from poolwright.cli.fleet_page import build_view, list_waived
from poolwright.cli.packet_parts import build_page, list_parts, name_kustomize
from poolwright.cli.packet_source import PacketSource, Sources
from poolwright.cli.plan_case import LoadedForPlan
from poolwright.cli.progress import Progress
from poolwright.cli.sides import ReadSide, SideReader, name_files
from poolwright.cli.version import package_version
from poolwright.packet.blockers import check_verdicts, list_blockers, list_wrong
from poolwright.packet.changelog import render_changelog
from poolwright.packet.index import Absent, PacketIndex, Role, Source, Tool
from poolwright.packet.parts import PacketPart, Sealed, seal
from poolwright.pages.view import ClusterView
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.promises.check import check_promises
from poolwright.plan.what_if.clearing import judge_clearing
from poolwright.plan.what_if.gang import find_gang_deadlocks
from poolwright.plan.what_if.mend import find_mends
from poolwright.plan.what_if.rollout import judge_rollouts
from poolwright.specs.finding import Finding, SpecError, sort_findings
from poolwright.specs.model import API_VERSION
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place
from poolwright.specs.waiving import apply_waivers

_NONE: Final = "this version of Poolwright makes none"
_NOTHING: Final = Revision(name="nothing", commit=None)
_ABSENT: Final[Mapping[Role, str]] = {
    "dashboards": "a dashboard is an object of each platform unit, under manifests/",
    "drills": _NONE,
    "evidence": "no record and no ledger names a file of the project as evidence",
    "lineage": _NONE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePacket:
    """A packet, and what was found on the way."""

    sealed: Sealed
    report: Report  # what differs from the release before
    answers: tuple[ClusterAnswer, ...]  # of every cluster
    blockers: tuple[Finding, ...]  # what stops it, unless it is waived; sorted
    waived: tuple[Finding, ...]


def make_packet(sources: Sources, source: PacketSource, name: str, as_of: dt.date, progress: Progress) -> MadePacket:
    """The packet that a commit gives, whether or not it may be released.

    Raises: SpecError with everything that is wrong in it, or if the release before can't be read; PacketError.
    """
    return _Maker(sources, source, name, as_of, progress).make()


class _Maker:
    def __init__(self, sources: Sources, source: PacketSource, name: str, as_of: dt.date, progress: Progress) -> None:
        self._sources, self._source = sources, source
        self._name, self._as_of, self._progress = name, as_of, progress
        self._reader = SideReader(progress)

    def make(self) -> MadePacket:
        commit = self._source.commit
        after = self._reader.read(self._source.folder, Revision(name=self._name, commit=commit.id))
        given = after.given
        if given is None:
            raise AssertionError(f"{self._name}: a project was read")
        kustomize = name_kustomize(given.project)
        before = self._read_before(after)
        old, new, untouched = self._reader.judge(before, after)
        sides = {name: new.clusters.get(name) or self._reader.judge_cluster(after, name) for name in given.clusters}
        report = build_report(old, new, untouched=untouched, as_of=self._as_of, tool=package_version())
        answers = tuple(self._answer(given, name, sides[name]) for name in self._progress.each(given.clusters))
        problems = list_problems(given.project, given.inventories, self._as_of)
        found = self._list_findings(given, problems, report, answers)
        waived = tuple(one for one in found if one.waived)
        views = [self._view(given, one, sides[one.cluster.name]) for one in answers]
        parts = list_parts(
            given, views, report, problems.records, self._reader.workshop, name=self._name, as_of=self._as_of
        )
        index = self._build_index(given, waived, kustomize)
        parts += build_page(given.project, views, report, index, found)
        index = _list_absent(index, parts)
        parts.append(PacketPart(path="CHANGELOG.md", role="changelog", data=render_changelog(report, index)))
        return MadePacket(
            sealed=seal(index, parts),
            report=report,
            answers=answers,
            blockers=list_blockers(one for one in found if not one.waived),
            waived=waived,
        )

    def _read_before(self, after: ReadSide) -> ReadSide:
        released = self._source.previous
        if released is None:
            return ReadSide(side=Side(revision=_NOTHING, project=after.side.project, clusters={}))
        name, wanted = released.index.name, released.index.source.git_commit
        try:
            commit = self._sources.repository.resolve(wanted)
        except SpecError as error:
            raise SpecError([*error.findings, _say_gone(name, wanted)]) from None
        end = self._sources.lay_out(commit, name)
        try:
            return self._reader.read(end.folder, end.revision)
        except SpecError as error:
            raise SpecError(name_files(error.findings, end.revision)) from None

    def _answer(self, given: LoadedForPlan, name: str, side: ClusterSide) -> ClusterAnswer:
        """The verdicts of a cluster; what would mend those that depend on the order too."""
        demand, judgement = side.demand, side.judgement
        answer = ClusterAnswer(
            cluster=side.plan,
            demand=demand,
            judgement=judgement,
            clearings=judge_clearing(demand, judgement),
            rollouts=judge_rollouts(demand, judgement),
            deadlocks=find_gang_deadlocks(demand, judgement),
            prices=side.prices,
            findings=sort_findings(check_promises(side.plan, demand, judgement)),
        )
        if all(one.word == "always-fits" for one in judgement.verdicts):
            return answer
        choices = given.list_class_choices(name)
        return replace(answer, mends=find_mends(demand, judgement, choices))

    def _view(self, given: LoadedForPlan, answer: ClusterAnswer, side: ClusterSide) -> ClusterView:
        self._progress.tell(f"{side.name}: judging losses")
        return build_view(answer, given.project.specs, side.objects, counts=True)

    def _list_findings(
        self, given: LoadedForPlan, problems: Problems, report: Report, answers: tuple[ClusterAnswer, ...]
    ) -> tuple[Finding, ...]:
        """Everything that speaks against the release; of the change only what is wrong."""
        found = [*problems.findings]
        for answer in answers:
            found += [*answer.findings, *check_verdicts(answer)]
        if given.project.lock is None:
            found.append(_say_unpinned())
        found += list_wrong(parse_rows(report.findings))
        return apply_waivers(found, given.project.specs, self._as_of).findings

    def _build_index(self, given: LoadedForPlan, waived: tuple[Finding, ...], kustomize: str | None) -> PacketIndex:
        """The index without its files, and what is absent."""
        released, lock = self._source.previous, given.project.lock
        return PacketIndex(
            api_version=API_VERSION,
            kind="Packet",
            project=given.project.specs.project.value.identity,
            name=self._name,
            sequence=1 if released is None else released.index.sequence + 1,
            previous=None if released is None else released.previous,
            as_of=self._as_of.isoformat(),
            source=Source(git_commit=self._source.commit.id, project_path=self._source.project_path),
            tool=Tool(
                poolwright=package_version(),
                render_format=1 if lock is None else lock.render_format.version,
                kustomize=kustomize,
            ),
            inputs=self._source.inputs,
            files=(),
            absent=(),
            waivers=tuple(list_waived(build_rows(waived))),
        )


def _list_absent(index: PacketIndex, parts: Sequence[PacketPart]) -> PacketIndex:
    """The same index, saying what isn't among the parts."""
    there = {one.role for one in parts}
    absent = tuple(Absent(role=role, why=why) for role, why in _ABSENT.items() if role not in there)
    return structs.replace(index, absent=absent)


def _say_gone(name: str, commit: str) -> Finding:
    return Finding(
        code="release-base",
        severity="error",
        place=Place(f"releases/{name}/packet.json", field="source.gitCommit"),
        what=f"release {name} was made from commit {commit}, which can't be read here",
        why="what a release changes is said against the release before",
        rule="poolwright releases",
        fix="fetch the whole history: git fetch --unshallow",
    )


def _say_unpinned() -> Finding:
    return Finding(
        code="release-unpinned",
        severity="error",
        place=Place(PROJECT_FILE),
        what="the project has no poolwright.lock",
        why="a release says exactly which versions and which render format it is of",
        rule="poolwright releases",
        fix="run `poolwright pin`, and commit what it writes",
    )
