"""The fact tables that ship with poolwright, with a project's own rows, as one value."""

from __future__ import annotations

import os

from poolwright.catalog import facts
from poolwright.catalog.facts import FACT_FILES, Facts, parse_facts
from poolwright.files.project import open_folder


def read_facts(root: str | None = None) -> Facts:
    """The tables beside the catalog's code; all are read, for each takes less than to say which are needed.

    root:   a project whose facts/ adds to them and overrides them; None: nobody's does.
    Raises: SpecError with everything that is wrong with the project's.
    """
    folder = os.path.join(os.path.dirname(facts.__file__), "tables")  # noqa: PTH118, PTH120 (start-up: no pathlib)
    texts = {}
    for name in FACT_FILES:
        with open(f"{folder}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            texts[name] = file.read()
    shipped = parse_facts(texts)
    return shipped if root is None else _merge_own(root, shipped)


def _merge_own(root: str, shipped: Facts) -> Facts:
    """The facts of a project. Without a folder of its own, this is an open that fails."""
    folder = open_folder(root, "facts")
    if folder is None:
        return shipped
    from poolwright.files.own_facts import read_own_facts  # reading rows strictly takes longer than to render a unit

    return read_own_facts(root, folder, shipped)
