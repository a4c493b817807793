"""GitPython, imported so that it runs nothing and says nothing by itself."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from git.cmd import Git

# Imported, GitPython would look for a git on PATH, ask it for its version, and raise if it has none. Which git runs is
# found by `find_git`; so it is shown one that can't be run, and told to be quiet about it.
_WHILE_IMPORTED: Final = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": "/dev/null"}
_LOCK: Final = threading.Lock()


def load_git() -> type[Git]:
    """GitPython's way to run git; some 0.1 s the first time. The environment is the same afterwards."""
    with _LOCK:
        before = {name: os.environ.get(name) for name in _WHILE_IMPORTED}
        os.environ.update(_WHILE_IMPORTED)
        try:
            from git.cmd import Git
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
    return Git
