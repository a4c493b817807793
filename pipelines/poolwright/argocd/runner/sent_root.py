"""Which folder of a repository is sent: all of it, or what manifest-generate-paths have in common."""

from __future__ import annotations

import os

from poolwright.argocd.runner.application import Application
from poolwright.argocd.runner.transfer import TransferError, secure_join


def find_app_folder(root: str, path: str) -> str:
    """The application's folder in a repository.

    Raises: TransferError as the repo-server words it.
    """
    if os.path.isabs(path):
        raise TransferError(f"{path}: app path is absolute")
    folder = os.path.normpath(os.path.join(root, path))
    if not folder.startswith(root):
        raise TransferError(f"{path}: app path outside root")
    try:
        os.stat(folder)
    except FileNotFoundError:
        raise TransferError(f"{path}: app path does not exist") from None
    except OSError as error:
        raise TransferError(f"stat {path}: {(error.strerror or '').lower()}") from None
    if not os.path.isdir(folder):
        raise TransferError(f"{path}: app path is not a directory")
    return folder


def find_sent_root(root: str, folder: str, application: Application) -> str:
    """The nearest folder above the application's that holds every path of its annotation; without one, the root."""
    paths = list(_list_paths(root, folder, application.generate_paths))
    if not paths:
        return root
    common = folder.split("/")
    is_disjoint = False
    for path in paths:
        parts = path.split("/")
        shortest = min(len(common), len(parts))
        differs = next((at for at in range(shortest) if common[at] != parts[at]), None)
        if differs is not None:
            common, is_disjoint = common[:differs], True
        elif not is_disjoint and shortest < len(common):  # as coded: after one that differs none shortens it further
            common = common[:shortest]
    return "/".join(common) or "/"


def _list_paths(root: str, folder: str, annotation: str) -> list[str]:
    below = os.path.relpath(folder, root)
    paths = []
    for path in annotation.split(";"):
        if path:
            unsafe = path if os.path.isabs(path) else os.path.join(below, path)
            paths.append(secure_join(root, os.path.normpath(unsafe)))
    return paths
