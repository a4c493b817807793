"""Libraries of `generate`, loaded without compiling the patterns that they hold in case somebody needs them.

Libraries compile their patterns while they are loaded. `generate` meets few of them: most are for systems that aren't
Linux, for wrapped text, and for YAML as PyYAML reads it where it lacks its C parser; compiling one of the last takes
longer than loading the rest of PyYAML. While `load_libraries` runs, `re.compile` notes what it is given and compiles
that on first use; afterwards it is what it was. msgspec keeps the function that it finds, so the patterns of spec
fields are compiled on first use too.

What is found by a pattern stays the same, and nothing of a library is left out (docs/decisions/0037).
"""

from __future__ import annotations

import re
from typing import Any, Final

_COMPILE: Final = re.compile


class LazyPattern:
    """What `re.compile` gives, compiled when it is first asked for anything. A pattern that isn't one says so then."""

    __slots__ = ("_compiled", "_flags", "_pattern")

    def __init__(self, pattern: Any, flags: int = 0) -> None:
        self._pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = _COMPILE(self._pattern, self._flags)
        return getattr(self._compiled, name)


def load_libraries() -> None:
    """Load what `generate` needs of libraries that hold patterns."""
    re.compile = LazyPattern  # type: ignore[assignment]
    try:
        import getopt  # noqa: F401

        import msgspec  # noqa: F401
        import yaml  # noqa: F401
    finally:
        re.compile = _COMPILE
