"""`poolwright version`."""

from __future__ import annotations

from importlib.metadata import version

from poolwright.cli.output import tell
from poolwright.files.facts import read_facts
from poolwright.specs.lock import RENDER_FORMAT


def package_version() -> str:
    """The installed version of poolwright."""
    return version("poolwright")


def run_version() -> int:
    """Print the version, and what it renders: the format, and the Kubernetes releases it knows."""
    minors = [fact.minor for fact in read_facts().kubernetes]
    tell(f"poolwright {package_version()} (render format {RENDER_FORMAT}, Kubernetes {minors[0]} to {minors[-1]})")
    return 0
