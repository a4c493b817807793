"""A report as comments: as many pages as it takes, each whole in itself, nothing cut away."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import quote, urlsplit

from poolwright.changes.report import Report, render_report
from poolwright.comments.content import build_content, build_short_content
from poolwright.comments.document import Content
from poolwright.comments.errors import CommentError
from poolwright.comments.escape import render_inline
from poolwright.comments.marker import Marker, render_marker
from poolwright.comments.nodes import Frame, Line, Node, build_nodes, measure, shorten

GITHUB_LIMIT: Final = 65_536
GITLAB_LIMIT: Final = 1_000_000
MIN_LIMIT: Final = 8_192  # what is said again on each page fits, and some text
_MAX_PAGES: Final = 9_999
_MAX_LINK: Final = 2_000


def build_pages(report: Report, *, limit: int, project: str, link: str | None = None) -> tuple[str, ...]:
    """The bodies of the comments that show a report, in their order; the first line of each is its marker.

    limit:   characters that a comment may have, as `measure` counts them.
    project: the DNS label that the marker names, so that two projects of one repository don't take each other's.
    link:    the https address of the full report, if there is one.
    Raises:  CommentError for a limit, project or link that can't be, or a report that would take 10,000 pages.
    """
    return _build(report, build_content(report), limit=limit, project=project, link=link)


def build_summary_pages(report: Report, *, limit: int, project: str, link: str | None = None) -> tuple[str, ...]:
    """The same without the details: the summary is never left out, however much there is to say."""
    return _build(report, build_short_content(report), limit=limit, project=project, link=link)


def _build(report: Report, content: Content, *, limit: int, project: str, link: str | None) -> tuple[str, ...]:
    if limit < MIN_LIMIT:
        raise CommentError(f"a page of {limit:,} characters is too small: give {MIN_LIMIT:,} or more")
    digest = sha256(render_report(report)).hexdigest()
    foot = "" if link is None else f"\n[The full report]({_check_link(link)})\n"
    head = f"## Poolwright: {render_inline(shorten(content.headline))}\n"

    def start(page: int, of: int) -> str:
        top = head if page == 1 else "## Poolwright, continued\n"
        where = "" if of == 1 else f"\nPage {page} of {of}{': the summary first, then details' if page == 1 else ''}.\n"
        return f"{_render_marker(project, page, of, digest)}\n{top}{where}{foot if page == 1 else ''}"

    room = limit - max(measure(start(page, _MAX_PAGES)) for page in (1, _MAX_PAGES))
    book = _Book(room)
    for node in build_nodes(content.sections):
        book.put(node)
    bodies = book.finish()
    if len(bodies) > _MAX_PAGES:
        raise CommentError(
            f"the report takes {len(bodies):,} pages, and {_MAX_PAGES:,} is the most: link to it instead"
        )
    return tuple(start(page, len(bodies)) + body for page, body in enumerate(bodies, 1))


class _Book:
    """Pages that are filled in order. Frames that are open at the end of one are opened again on the next."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._pages: list[str] = []
        self._texts: list[str] = []  # of the page that is being filled
        self._used = 0  # by them, and by the ends of the frames that are open
        self._open: list[Frame] = []  # on this page, outermost first
        self._seen: set[Frame] = set()  # opened on some page

    def put(self, node: Node, around: Sequence[Frame] = ()) -> None:
        """Add a node that stands in these frames: where it fits, then on a new page, then in parts."""
        is_whole = isinstance(node, Line) or node.is_whole
        if is_whole and self._size_of(node, around) > self._room - self._used and self._fits_alone(node, around):
            self._turn()
        if isinstance(node, Frame):
            for inner in node.nodes:
                self.put(inner, (*around, node))
        elif self._size_of(node, around) <= self._room - self._used:
            self._write(node, around)
        else:
            self._put_parts(node, around)

    def finish(self) -> tuple[str, ...]:
        """The pages; one at least."""
        if self._texts or not self._pages:
            self._turn()
        return tuple(self._pages)

    def _put_parts(self, line: Line, around: Sequence[Frame]) -> None:
        halves = line.split()
        if halves is None:
            raise AssertionError(f"{len(around)} frames leave no room for a line")
        for half in halves:
            self.put(half, around)

    def _size_of(self, node: Node, around: Sequence[Frame]) -> int:
        """What it takes on this page, with what has to be opened before it."""
        still = self._count_still_open(around)
        return node.size + sum(_measure_ends(frame) for frame in around[still:])

    def _fits_alone(self, node: Node, around: Sequence[Frame]) -> bool:
        return node.size + sum(map(_measure_ends, around)) <= self._room

    def _write(self, line: Line, around: Sequence[Frame]) -> None:
        self._close(self._count_still_open(around))
        for frame in around[len(self._open) :]:
            self._texts.append(frame.reopens if frame in self._seen else frame.opens)
            self._open.append(frame)
            self._seen.add(frame)
            self._used += _measure_ends(frame)
        self._texts.append(line.text)
        self._used += line.size

    def _count_still_open(self, around: Sequence[Frame]) -> int:
        count = 0
        for opened, frame in zip(self._open, around, strict=False):
            if opened is not frame:
                break
            count += 1
        return count

    def _close(self, keep: int) -> None:
        while len(self._open) > keep:
            self._texts.append(self._open.pop().closes)

    def _turn(self) -> None:
        self._close(0)
        self._pages.append("".join(self._texts))
        self._texts, self._used = [], 0


def _measure_ends(frame: Frame) -> int:
    return max(measure(frame.opens), measure(frame.reopens)) + measure(frame.closes)


def _render_marker(project: str, page: int, of: int, digest: str) -> str:
    try:
        return render_marker(Marker(project=project, page=page, of=of, report=digest))
    except ValueError:
        raise CommentError(
            f"{project!a} can't name a project in a comment: give a lower-case DNS label, as poolwright.yaml has"
        ) from None


def _check_link(link: str) -> str:
    """The address, in characters that end no link."""
    try:
        parts = urlsplit(link)
        is_sound = parts.scheme == "https" and parts.hostname and not parts.username and len(link) <= _MAX_LINK
    except ValueError:
        is_sound = False
    if not is_sound:
        raise CommentError(
            f"{link!a} is no address for a link: give an https address of {_MAX_LINK:,} characters or less"
        )
    return quote(link, safe="/:?#&=%+,~.-_", errors="backslashreplace").replace("&", "&amp;")
