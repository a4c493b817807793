"""A cluster's `argocd` folder: one file per object, so that a change to one placement touches one of them."""

from __future__ import annotations

from collections.abc import Sequence

from poolwright.objects.kubernetes import Object


def list_argocd_files(objects: Sequence[Object]) -> dict[str, Object]:
    """Each object by the file it stands in: an Application's is called after it, and the AppProject has its own."""
    return {_file_name(document): document for document in objects}


def _file_name(document: Object) -> str:
    kind, name = str(document["kind"]), str(document["metadata"]["name"])
    return f"{name}.yaml" if kind == "Application" else f"{kind.lower()}.yaml"
