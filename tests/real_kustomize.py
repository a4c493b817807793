"""What real Kustomize makes of a tree."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from poolwright.kustomize.build import BuildOutput, build
from poolwright.kustomize.find import Kustomize, KustomizeError, find_kustomize


def build_for_real(tree: Path, folder: str) -> bytes:
    """The bytes that Kustomize prints for a folder of the tree; an error or a warning fails the test."""
    built = build(_kustomize(), tree, folder)
    assert isinstance(built, BuildOutput), built
    assert built.warnings == ()
    return built.objects


def why_refused(tree: Path, folder: str) -> str:
    """Why Kustomize builds nothing of a folder; that it does fails the test."""
    refused = build(_kustomize(), tree, folder)
    assert isinstance(refused, KustomizeError), refused
    return refused.reason


@cache
def _kustomize() -> Kustomize:
    found = find_kustomize(None, os.environ)
    assert isinstance(found, Kustomize), found
    return found
