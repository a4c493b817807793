"""`poolwright diff`: what lies between two revisions, or two folders, in every cluster."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass, replace
from typing import Literal

from msgspec import structs

from poolwright.changes.build_report import build_report
from poolwright.changes.commits import add_commits, list_problems
from poolwright.changes.fail_on import DEFAULT, is_failing
from poolwright.changes.finding_rows import parse_rows
from poolwright.changes.report import CommitAnswer, Report, render_report
from poolwright.changes.report_text import render_report_text
from poolwright.changes.side import Side
from poolwright.cli.ends import End, Ends, has_project
from poolwright.cli.live import OptionError, SnapshotError
from poolwright.cli.object_files import read_objects
from poolwright.cli.output import refuse, say, tell, write_whole
from poolwright.cli.progress import Progress
from poolwright.cli.room import make_room
from poolwright.cli.sides import Compared, ReadSide, SideReader, name_files
from poolwright.cli.today import read_today
from poolwright.cli.version import package_version
from poolwright.git.commit import Commit
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place
from poolwright.specs.report import render_findings

Format = Literal["text", "markdown", "json", "html", "github", "sarif"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What was asked for."""

    base: str
    head: str | None = None  # None: the project's folder as it is on disk
    project: str = "."
    form: Format = "text"
    out: str | None = None  # a file that gets the report as JSON too
    merge_base: bool = False  # from where the two parted
    each_commit: bool = False
    fail_on: tuple[str, ...] = DEFAULT
    as_of: dt.date | None = None  # None: today in UTC
    cluster: str | None = None  # whose files `live` are
    live: tuple[str, ...] = ()
    losses: bool = False  # of a page: what each loss does on both sides


def run_diff(options: DiffOptions) -> int:
    """Print the report; 0: nothing that was asked not to be there, 1: something is, 2: no answer."""
    try:
        captured = read_objects(options.live) if options.live else None
        with make_room("poolwright-diff-") as room, Progress() as progress:
            compared = _Comparison(Ends(options.project, room), SideReader(progress, captured), options).build()
            page = _build_page(compared, progress, options) if options.form == "html" else b""
    except SnapshotError as error:
        return refuse("--live", str(error))
    except OptionError as error:
        return refuse(error.option, str(error))
    report = compared.report
    if options.out is not None:
        write_whole(options.out, render_report(report))
    _print(report, page, options.form)
    return 1 if is_failing(report, options.fail_on) else 0


class _Comparison:
    """Two ends, and the commits between them if they are asked for."""

    def __init__(self, ends: Ends, reader: SideReader, options: DiffOptions) -> None:
        self._ends = ends
        self._reader = reader
        self._options = options
        self._as_of = options.as_of or read_today()
        self._is_project = True
        self._last: tuple[str, ReadSide] | None = None  # of a commit, by its folder

    def build(self) -> Compared:
        """The report and its sides. Raises: SpecError; of an end that can't be read, the file names say which it is."""
        options, ends = self._options, self._ends
        base = ends.find(options.base)
        head = ends.find_here() if options.head is None else ends.find(options.head)
        between: tuple[Commit, ...] = ()
        if options.merge_base or options.each_commit:
            start, tip = ends.need_commit(base), ends.need_commit(head)
            base = ends.repository.find_merge_base(start, tip) if options.merge_base else start
            if options.each_commit:
                between = ends.repository.list_commits(base, tip)
                between = between[:-1] if isinstance(head, Commit) else between  # the head itself is judged anyway
        old, new = self._open(base, options.base), self._open(head, options.head or "")
        self._is_project = has_project(old.folder) or has_project(new.folder)
        after = self._read(new)
        if self._is_project and not has_project(old.folder):
            before = _build_nothing(old, after)
            after = replace(after, side=replace(after.side, findings=(_say_new(),)))
        else:
            before = self._read(old)
        self._reader.choose_live(before, after, options.cluster)
        compared = self._compare(before, after)
        if not options.each_commit:
            return compared
        report = add_commits(compared.report, [self._judge(before, commit) for commit in between])
        return replace(compared, report=report if self._is_project else _place_below(report))

    def _compare(self, before: ReadSide, after: ReadSide) -> Compared:
        old, new, untouched = self._reader.judge(before, after)
        report = build_report(old, new, untouched=untouched, as_of=self._as_of, tool=package_version())
        report = report if self._is_project else _place_below(report)
        return Compared(report=report, before=old, after=new, given=after.given)

    def _judge(self, before: ReadSide, commit: Commit) -> CommitAnswer:
        """A commit by itself; one that can't be read is none that anything could be rendered from."""
        end = self._open(commit, commit.id[:12])
        if self._is_project and before.given is None and not has_project(end.folder):
            return CommitAnswer(commit=commit.id, subject=commit.subject, is_safe=True, problems=())
        try:
            problems = list_problems(self._compare(before, self._read(end)).report)
        except SpecError as error:
            problems = tuple(f"{one.place}: {one.what} [{one.code}]" for one in error.findings)
        return CommitAnswer(commit=commit.id, subject=commit.subject, is_safe=not problems, problems=problems)

    def _open(self, end: End | Commit, name: str) -> End:
        return self._ends.lay_out(end, name) if isinstance(end, Commit) else end

    def _read(self, end: End) -> ReadSide:
        """A side; of two commits in a row whose files are the same the files are read once."""
        if self._last is not None and self._last[0] == end.folder:
            known = self._last[1]
            return replace(known, side=replace(known.side, revision=end.revision))
        try:
            read = self._reader.read(end.folder, end.revision, is_project=self._is_project)
        except SpecError as error:
            raise SpecError(name_files(error.findings, end.revision)) from None
        if end.revision.commit is not None:
            self._last = (end.folder, read)
        return read


def _build_nothing(end: End, like: ReadSide) -> ReadSide:
    """The side before a project was there: everything is new."""
    return ReadSide(side=Side(revision=end.revision, project=like.side.project, clusters={}))


def _place_below(report: Report) -> Report:
    """Of manifests: what is of no single one of them is of their folder, for they have no project file."""
    rows = [structs.replace(one, file=".") if one.file == PROJECT_FILE else one for one in report.findings]
    return structs.replace(report, findings=tuple(rows))


def _say_new() -> Finding:
    return Finding(
        code="base-missing",
        severity="note",
        place=Place(PROJECT_FILE),
        what=f"the base has no {PROJECT_FILE}, so that everything is new",
        why="of a project that was moved, or of a base that isn't the one that was meant, nothing is compared",
        rule="poolwright diff",
        fix="nothing, if the project is new; otherwise name a base that has it at the same path",
    )


def _build_page(compared: Compared, progress: Progress, options: DiffOptions) -> bytes:
    from poolwright.cli.fleet_page import build_diff_page  # here: most runs don't need its rooms
    from poolwright.pages.html import render_page

    return render_page(build_diff_page(compared, progress, losses=options.losses))


def _print(report: Report, page: bytes, form: Format) -> None:
    match form:
        case "text":
            for line in render_report_text(report):
                tell(line)
        case "json":
            say(_escape_json(render_report(report).decode()))
        case "markdown":
            from poolwright.comments.markdown import render_markdown  # here: most runs don't need its room

            say(render_markdown(report))
        case "html":
            say(page.decode())
        case _:
            say(render_findings(parse_rows(report.findings), form, tool_version=package_version()))


def _escape_json(text: str) -> str:
    """The same JSON in ASCII, as every one that is printed: a terminal may show it."""
    return re.sub(r"[^\n -~]", lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), text)
