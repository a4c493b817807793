"""How one version of a serving engine is started: its command, its arguments, and the paths that tell its state."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from poolwright.specs.model import Model
from poolwright.specs.stack import EngineType

if TYPE_CHECKING:
    from poolwright.catalog.facts import Facts
    from poolwright.catalog.tables.engines import EngineArgumentFact

# The versions whose dialect bases are written in. A part of the render format: another one restarts every model.
BASE_VERSIONS: Final[dict[EngineType, str]] = {"vllm": "0.33.0", "sglang": "0.5.23"}

# What is the tool's own in every pod, whatever the engine.
ENGINE_PORT: Final = 8000  # one for all, because pods of several units can stand in one router pool, which has one port
STATEMENT_CONTAINER: Final = "topology"  # the init container that compares where the devices are


class Dialect(Model, frozen=True, kw_only=True):
    """What a version of an engine is called with, and where it answers."""

    engine: EngineType
    version: str  # the one that was read: the newest known that isn't newer than the one that was asked for
    command: tuple[str, ...]
    port: int  # the engine's default
    startup_path: str
    readiness_path: str
    liveness_path: str
    arguments: dict[str, str]  # by quantity of the facts; "": the first argument without a name
    words: dict[str, dict[str, str]]  # by quantity: our words, and the engine's; others are written as they are

    def spell(self, quantity: str, word: str) -> str | None:
        """The engine's word for ours; None: it has none."""
        known = self.words.get(quantity)
        return word if known is None else known.get(word)

    def is_like(self, other: Dialect) -> bool:
        """Whether the two versions are started alike."""
        return [getattr(self, field) for field in _SPELLING] == [getattr(other, field) for field in _SPELLING]


_SPELLING: Final = tuple(field for field in Dialect.__struct_fields__ if field != "version")


def build_base_dialect(facts: Facts, engine: EngineType) -> Dialect | None:
    """The dialect that bases are written in; None for an engine of the team's own."""
    return build_dialect(facts, engine, BASE_VERSIONS[engine]) if engine in BASE_VERSIONS else None


@lru_cache(maxsize=64)  # a function of tables that never change; every placement asks for the same few versions
def build_dialect(facts: Facts, engine: EngineType, version: str) -> Dialect | None:
    """The dialect of a version; None for an engine that isn't known. A version older than all known has the oldest's.

    version: as a stack writes it; one that is no version has the base's dialect.
    """
    if engine not in BASE_VERSIONS:
        return None
    at = choose_version([fact.version for fact in facts.engines if fact.engine == engine], version, engine)
    served = next(fact for fact in facts.engines if (fact.engine, fact.version) == (engine, at))
    by_quantity: dict[str, list[EngineArgumentFact]] = {}
    for fact in facts.engine_arguments:
        if fact.engine == engine:
            by_quantity.setdefault(fact.quantity, []).append(fact)
    rows = {
        quantity: spellings[0]
        if len(spellings) == 1
        else next(row for row in spellings if row.version == choose_version([r.version for r in spellings], at, engine))
        for quantity, spellings in sorted(by_quantity.items())
    }
    return Dialect(
        engine=engine,
        version=at,
        command=served.command,
        port=served.port,
        startup_path=served.startup_path,
        readiness_path=served.readiness_path,
        liveness_path=served.liveness_path,
        arguments={quantity: row.argument or "" for quantity, row in rows.items() if row.form != "absent"},
        words={quantity: row.values for quantity, row in rows.items() if row.values},
    )


def choose_version(known: list[str], wanted: str, engine: EngineType) -> str:
    """The newest known version that isn't newer than the wanted one; else the oldest."""
    if wanted in known:
        return wanted
    from poolwright.specs.version import parse_version  # most stacks run a version that is known

    try:
        limit = parse_version(wanted)
    except ValueError:
        return BASE_VERSIONS[engine]
    by_age = sorted(known, key=lambda text: parse_version(text).key)
    return next((text for text in reversed(by_age) if parse_version(text).key <= limit.key), by_age[0])
