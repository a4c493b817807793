"""Objects as tests write them."""

from __future__ import annotations

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.parse_objects import parse_objects
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError, render_text


def read(text: str) -> ClusterObjects:
    return parse_objects(parse_documents(text.encode(), "objects.yaml"))


def refusal(text: str) -> str:
    """What is said of objects that can't be read; empty: they can."""
    try:
        read(text)
    except SpecError as error:
        return render_text(error.findings)
    return ""
