"""Where Python loads modules from, and whether a project could put its own among them.

A project's files are read and never run. Python runs what it imports, so no folder that it imports from may lie in a
project: not in the one that is read, and in no other. Loaded before anything that a project could stand in the place
of, this module needs only what is built into Python.
"""

import os
import sys
from collections.abc import Iterable

_PROJECT_FILE = "poolwright.yaml"  # also in specs.parse, which loads other modules first
_OURS = ("poolwright", "msgspec", "yaml")  # what reads a project; import hooks can find them off sys.path
HOW = "run the `poolwright` command with PYTHONPATH unset, or `python -I -m poolwright`, installed outside the project"


def check_import_path() -> str:
    """The line that says why nothing may be read, or nothing: no folder of sys.path lies in any project.

    Cost: some twenty looks at file names.
    """
    found = find_inside_project(sys.path)
    return "" if found is None else f"Python would load modules from {found[0]!r}, in the project {found[1]!r}: {HOW}"


def check_loaded() -> str:
    """The same of the modules that read a project and are loaded already."""
    places = [place for name in _OURS if name in sys.modules for place in _list_places(name)]
    found = find_inside_project(places)
    return "" if found is None else f"Python loaded modules from {found[0]!r}, in the project {found[1]!r}: {HOW}"


def find_inside_project(paths: Iterable[str]) -> tuple[str, str] | None:
    """The first path that lies in a project, itself or by where its links lead, with that project's folder."""
    outside: set[str] = set()  # folders that no project holds
    for path in paths:
        for place in (os.path.abspath(path), os.path.realpath(path)):  # noqa: PTH100 (pathlib isn't built in)
            project = _find_project(place, outside)
            if project is not None:
                return path, project
    return None


def _find_project(place: str, outside: set[str]) -> str | None:
    passed = []
    while place not in outside:
        if os.path.lexists(os.path.join(place, _PROJECT_FILE)):  # noqa: PTH118
            return place
        passed.append(place)
        place = os.path.dirname(place)  # noqa: PTH120 (of the root: itself, which has been passed by then)
        if place == passed[-1]:
            break
    outside.update(passed)
    return None


def _list_places(name: str) -> list[str]:
    module = sys.modules[name]
    return [*getattr(module, "__path__", ()), *filter(None, [getattr(module, "__file__", None)])]
