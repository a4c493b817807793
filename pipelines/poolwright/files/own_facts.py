"""Facts of a project's own, facts/: files read without following a link, and merged with those that ship."""

from __future__ import annotations

import os
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.own_facts import FACT_FOLDER, merge_facts
from poolwright.files.project import MAX_SPEC_VALUES, check_values, read_file
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

MAX_FACT_ENTRIES: Final = 1000  # of the folder, whatever their names
_RULE: Final = "poolwright facts of a project"


def read_own_facts(root: str, folder: int, facts: Facts) -> Facts:
    """The facts with those of the project at root.

    folder: its facts/, open; it is closed here.
    Raises: SpecError with everything that can't be read, or else with everything that is wrong with what was.
    """
    files: dict[str, bytes] = {}
    problems: list[Finding] = []
    for path in _list_files(folder, problems):
        try:
            files[path] = read_file(root, path, max_bytes=MAX_SPEC_BYTES)
            check_values(files[path], path, most=MAX_SPEC_VALUES)
        except SpecError as error:
            problems += error.findings
    if problems:
        raise SpecError(problems)
    return merge_facts(facts, files)


def _list_files(folder: int, problems: list[Finding]) -> list[str]:
    """Paths of the YAML and JSON files, sorted. Names that start with a dot, and other files, are passed over."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries, 1):
                if count > MAX_FACT_ENTRIES:
                    raise SpecError([_too_many()])
                path = f"{FACT_FOLDER}/{entry.name}"
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    problems.append(_nested(path))
                elif entry.name.endswith((".yaml", ".yml", ".json")):
                    found.append(path)
    finally:
        os.close(folder)
    return sorted(found)


def _nested(path: str) -> Finding:
    return Finding(
        code="fact-table-unknown",
        severity="error",
        place=Place(path),
        what=f"{path} is a folder",
        why=f"each table's rows stand in one file of {FACT_FOLDER}/ itself: what is below would have no effect",
        rule=_RULE,
        fix=f"move its files to {FACT_FOLDER}/TABLE.yaml",
    )


def _too_many() -> Finding:
    return Finding(
        code="project-too-large",
        severity="error",
        place=Place(FACT_FOLDER),
        what=f"{FACT_FOLDER}/ holds more than {MAX_FACT_ENTRIES:,} files and folders",
        why="what is read is bounded, so that no repository can exhaust memory or time",
        rule=_RULE,
        fix=f"keep what isn't a table of facts outside {FACT_FOLDER}/",
    )
