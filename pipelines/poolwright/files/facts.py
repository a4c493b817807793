"""The fact tables that ship with poolwright, as one value."""

from __future__ import annotations

import os

from poolwright.catalog import facts
from poolwright.catalog.facts import FACT_FILES, Facts, parse_facts


def read_facts() -> Facts:
    """The tables beside the catalog's code; all are read, for each takes less than to say which are needed."""
    folder = os.path.join(os.path.dirname(facts.__file__), "tables")  # noqa: PTH118, PTH120 (start-up: no pathlib)
    texts = {}
    for name in FACT_FILES:
        with open(f"{folder}/{name}", "rb", buffering=0) as file:  # noqa: PTH123
            texts[name] = file.read()
    return parse_facts(texts)
