"""`poolwright render`: the tree written, or compared with what is wanted."""

from __future__ import annotations

import os
from collections.abc import Sequence

from poolwright.catalog.closure import Closure, UnitClosure
from poolwright.cli.load import LoadedProject, choose_closures, list_committed, load_project
from poolwright.cli.output import say, tell
from poolwright.files.custom import Custom
from poolwright.files.project import find_project
from poolwright.files.write_folder import FolderResult, check_folders, read_folder_paths, write_folders
from poolwright.specs.finding import Finding, render_text, sort_findings
from poolwright.specs.place import Place
from poolwright.specs.unit_specs import find_cluster
from poolwright.trees.folder import MANIFEST_NAME, Folder, is_tree_path, list_parents
from poolwright.trees.tree import build_folders, unit_name

_VERBS = {"absent": "new", "stale": "changed", "interrupted": "healed", "edited": "overwritten", "current": "unchanged"}


def run_render(
    project: str, cluster: str | None, *, check: bool, out: str | None, verify: bool, discard_edits: bool
) -> int:
    """Write the tree, or with check only compare; 0: it is as wanted, 1: it isn't, or some folders were left."""
    loaded = load_project(find_project(project))
    if cluster is not None:
        find_cluster(loaded.specs.project, cluster)
    closures = choose_closures(loaded.closures, cluster)
    if out is None:
        closures = list_committed(loaded, closures)
    folders = list(build_folders(closures))
    root = loaded.root if out is None else out
    tops = ["overlays"]
    if not _is_same(root, loaded.root):  # there the units refer to teams' own components, so those have to stand there
        folders += [_copy_custom(closure, loaded.customs[unit]) for closure, unit in _list_custom(loaded, closures)]
        tops.append("custom")
    if not check:
        os.makedirs(root, exist_ok=True)  # noqa: PTH103
    gone, strange = _list_gone(root, tops, folders, cluster)
    if check:
        results = check_folders(root, folders, gone)
    else:
        results = write_folders(root, folders, gone, discard_edits=discard_edits)
    code = _report(results, [_build_strange(path) for path in strange], check=check)
    if verify and code == 0:
        # Here, not at the top: it starts other programs, and nothing else here does.
        from poolwright.cli.verify import run_verify

        return run_verify(root, closures)
    return code


def _list_gone(
    root: str, tops: Sequence[str], folders: Sequence[Folder], cluster: str | None
) -> tuple[list[str], list[str]]:
    """Folders of ours that no spec asks for any more, with a cluster only that cluster's.

    Apart from them: folders with a manifest that can't be ours, for their name or because wanted ones stand in them.
    """
    wanted = {folder.path for folder in folders}
    below = tops if cluster is None else [f"{top}/{cluster}" for top in tops]
    others = [path for top in below for path in read_folder_paths(root, top) if path not in wanted]
    above = list_parents(wanted)
    strange = [path for path in others if path in above or not is_tree_path(path)]
    return [path for path in others if path not in strange], strange


def _is_same(first: str, second: str) -> bool:
    return os.path.isdir(first) and os.path.samefile(first, second)  # noqa: PTH112, PTH121


def _list_custom(project: LoadedProject, closures: Sequence[Closure]) -> list[tuple[UnitClosure, str]]:
    """The units that have a component of their team's own, with the names of their folders."""
    units = [(closure, unit_name(closure)) for closure in closures if isinstance(closure, UnitClosure)]
    return [(closure, unit) for closure, unit in units if unit in project.customs]


def _copy_custom(closure: UnitClosure, custom: Custom) -> Folder:
    """A component as a folder of the tree; in the project it is the team's and never written."""
    unit, format_number = unit_name(closure), closure.render_format
    return Folder(path=custom.path, files=custom.files, unit=unit, closure=custom.digest, render_format=format_number)


def _build_strange(path: str) -> Finding:
    return Finding(
        code="folder-foreign",
        severity="error",
        place=Place(path),
        what="a manifest of poolwright's stands in a folder that can't be one of its own",
        why="what is listed there can't be told from files of yours, so the folder is left as it is",
        rule="poolwright's tree on disk",
        fix=f"delete the manifest ({MANIFEST_NAME}), or the folder",
    )


def _report(results: Sequence[FolderResult], strange: Sequence[Finding], *, check: bool) -> int:
    problems = [*strange, *(finding for result in results for finding in result.problems)]
    for result in results:
        changes = len(result.written) + len(result.removed)
        if result.problems or not changes:
            continue
        gone = result.removed and not result.written
        tell(f"{'removed' if gone else _VERBS[result.before.kind]:<10} {result.path}  ({changes} files)")
    if problems:
        say(render_text(sort_findings(problems)), error=True)
        return 1
    changed = sum(1 for result in results if result.written or result.removed)
    if check:
        tell(f"{len(results)} folders are what the specs give")
    else:
        tell(f"{len(results)} folders: {changed} written, {len(results) - changed} already current")
    return 0
