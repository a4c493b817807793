"""No digest of a real artifact is made up: each commit id and SHA-256 that is shipped is one whose source is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from fleet import ROOT

SHIPPED = ("render", "overlays", "releases", "pipelines", "docs", ".ci", "Makefile", "README.md", "CHANGELOG.md")
SOURCES = ROOT / "pipelines" / "ci" / "sources.yaml"
# What stands for any: nobody takes it for one that exists.
PLACEHOLDERS = {"0" * 40, "0" * 64, "3f1c0de000000000000000000000000000000000"}


def test_every_digest_has_a_source() -> None:
    sources = {one["commit"] for one in yaml.safe_load(SOURCES.read_text(encoding="utf-8")).values()}
    # The fleet is made up, with its weights and its commits; the documentation shows it.
    shown = {digest for _, digest in find_digests(ROOT / "examples" / "fleet")}
    found = {one for name in SHIPPED for one in find_digests(ROOT / name)}
    # Of a package index's files, which pip compares when tests/argocd/test_containerfile.py has it install them.
    found = {(path, digest) for path, digest in found if path != "pipelines/argocd/requirements.txt"}
    without = {
        (path, digest)
        for path, digest in found
        if digest not in PLACEHOLDERS
        and not (path.startswith("pipelines/ci/") and digest in sources)
        and not (path.startswith("docs/how-to/") and digest in shown)
    }
    assert without == set()
    assert {digest for path, digest in found if path.startswith("pipelines/ci/")} == sources


def find_digests(start: Path) -> Iterator[tuple[str, str]]:
    """Files of a folder, or a file, with each 40 or 64 hex digits that stand alone in them."""
    for path in [start] if start.is_file() else sorted(start.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="replace")
            for digest in re.findall(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])", text):
                yield path.relative_to(ROOT).as_posix(), digest
