"""`poolwright cmp announce-parameters`: what the parameters tab of an Application offers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from poolwright.argocd.announcements import build_announcements, render_announcements
from poolwright.argocd.sent import SOURCE_PATH, find_sent_project, find_unit, split_path
from poolwright.catalog.closure import PLATFORM_UNIT
from poolwright.cli.refusal import render_refusal
from poolwright.files.project import find_project, read_specs
from poolwright.specs.finding import SpecError
from poolwright.specs.parse import parse_project, parse_specs
from poolwright.specs.project import Cluster

MAX_WORDS = 2000  # bytes on stderr, as in `generate --argocd`


def run_announce(project: str | None) -> int:
    """Print the parameters as a JSON list; the exit code is 0, or 2 if no project was sent.

    Of a project that isn't valid the parameters are printed with fewer names: whoever corrects it may need the form.
    """
    path = split_path(os.environ.get(SOURCE_PATH, ""))
    try:
        root = find_sent_project(os.getcwd(), path) if project is None else find_project(project)  # noqa: PTH109
    except SpecError as error:
        sys.stderr.write(render_refusal("announce-parameters", error.findings, max_bytes=MAX_WORDS))
        return 2
    unknown = ""
    units: dict[str, list[str]] = {}
    releases: dict[str, str] = {}
    try:
        files = read_specs(root)
        clusters = parse_project(files).value.spec.clusters
        releases = {cluster.name: cluster.release for cluster in clusters if cluster.release}
        units = _list_units(files, clusters)
    except SpecError as error:
        first = error.findings[0]
        unknown = f"{first.place}: {first.what}"
    sys.stdout.buffer.write(render_announcements(build_announcements(units, find_unit(path), unknown, releases)))
    sys.stdout.buffer.flush()
    return 0


def _list_units(files: Mapping[str, bytes], clusters: Sequence[Cluster]) -> dict[str, list[str]]:
    """The units of each cluster, by name; if only the Project is valid, clusters without units."""
    units: dict[str, list[str]] = {cluster.name: [] for cluster in clusters}
    try:
        specs = parse_specs(files)
    except SpecError:
        return units
    for pool in specs.pools:
        if pool.value.spec.cluster_name in units:
            units[pool.value.spec.cluster_name] = [PLATFORM_UNIT]
    for cluster, placements in specs.placements_by_cluster.items():
        if cluster in units:
            units[cluster] = [*sorted(placements), *units[cluster]]
    return units
