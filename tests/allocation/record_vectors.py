"""Choose random cases and write down what upstream's allocator answers: data/allocator-vectors-<minor>.jsonl.

    PYTHONPATH=tests:tests/allocation python tests/allocation/record_vectors.py [--coverage] [MINOR ...]

Needs Go and its modules. Each minor's file has a header and then one vector a line: the seed of the case, its digest
(`digest_case`; another one means that the generator has changed and the vectors must be recorded again), and the
answer.

- Where upstream's order is fixed (1.36 and later, but for the `stable` implementation) the answer is exact: `outcome`,
  `error`, `allocations` and `steps`, as tests/oracle/allocator/main.go has them.
- Elsewhere the order of the pools is random: the answer is `outcomes`, every outcome that 40 runs had. Of three pools
  the rarest order comes once in eight runs.

Chosen are: cases with a combination of content, outcome and implementation, or of two themes and an outcome, that no
earlier one had; cases until the chosen ones run every statement of upstream's that any case runs; then cases that
make upstream search for long; then others. A case that upstream needs more than 3000 steps for is left out: the tests
have to be quick.

--coverage prints which statements of upstream's allocators no case runs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

from random_cases import build_case, digest_case
from random_draw import Json, build_draw
from upstream_allocator import MODULE, ask_upstream, build_upstream, read_module_version

DATA: Final = Path(__file__).parent / "data"
# By minor: how many vectors, out of how many seeds.
PLAN: Final = {"1.34": (400, 1500), "1.35": (400, 1500), "1.36": (1300, 8000), "1.37": (1700, 10000)}
MOST_STEPS: Final = 3000
RUNS_OF_RANDOM_ORDER: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """A case's answer, and what makes the case worth having."""

    seed: int
    digest: str
    answer: Json
    marks: frozenset[str]
    steps: int


def main() -> None:
    parser = argparse.ArgumentParser(description="record vectors of upstream's allocator")
    parser.add_argument("minors", nargs="*", metavar="MINOR", default=list(PLAN))
    parser.add_argument("--coverage", action="store_true")
    arguments = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    for minor in arguments.minors:
        with tempfile.TemporaryDirectory() as folder:
            _record(minor, Path(folder), print_coverage=arguments.coverage)


def _record(minor: str, folder: Path, *, print_coverage: bool) -> None:
    wanted, seeds = PLAN[minor]
    program = build_upstream(minor, folder)
    outcomes: Counter[str] = Counter()
    vectors = list(_answer(program, minor, range(seeds), outcomes))
    coverage = Coverage(program=build_upstream(minor, folder / "counting", count_coverage=True), minor=minor)
    chosen = _choose(vectors, wanted, coverage)
    shares = {outcome: round(count / seeds, 3) for outcome, count in sorted(outcomes.items())}
    header = {"by": f"{MODULE} {read_module_version(minor)}", "minor": minor, "seeds": seeds, "shares": shares}
    rows = [{"seed": vector.seed, "case": vector.digest, "answer": vector.answer} for vector in chosen]
    lines = [json.dumps(row, sort_keys=True, separators=(",", ":")) for row in (header, *rows)]
    (DATA / f"allocator-vectors-{minor}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(minor, len(chosen), "vectors of", len(vectors), "usable cases;", shares)
    if print_coverage:
        print("\n".join(coverage.list_missed([vector.seed for vector in vectors])))


def _answer(program: Path, minor: str, seeds: Sequence[int], outcomes: Counter[str]) -> Iterator[Vector]:
    cases = [build_case(seed, minor) for seed in seeds]
    once = list(ask_upstream(program, cases, "-timeout=500ms"))
    outcomes.update(answer["outcome"] for answer in once)
    is_random = [minor < "1.36" or answer["channel"] == "stable" for answer in once]
    usable = [answer["outcome"] != "timeout" and (answer["steps"] or 0) <= MOST_STEPS for answer in once]
    # An error can name whichever of several things a map gave first, even where everything else is in order.
    asked_again = [at for at in range(len(cases)) if usable[at]]
    is_often = [is_random[at] or once[at]["outcome"] == "error" for at in range(len(cases))]
    repeats: list[Json | None] = [None] * len(cases)
    for often, runs in ((False, 3), (True, RUNS_OF_RANDOM_ORDER)):
        places = [at for at in asked_again if is_often[at] == often]
        asked = ask_upstream(program, [cases[at] for at in places], "-timeout=2s", f"-repeat={runs}")
        for at, said in zip(places, asked, strict=True):
            repeats[at] = said
    for seed, case, first, random_order, said in zip(seeds, cases, once, is_random, repeats, strict=True):
        if said is None:
            continue
        seen = sorted({run["outcome"] for run in said["runs"]})
        if "timeout" in seen or (not random_order and len(said["runs"]) > 1):
            continue
        answer: Json = {"outcomes": seen}
        if not random_order:
            answer = {key: first[key] for key in ("outcome", "error", "allocations", "steps") if key in first}
        yield Vector(
            seed=seed,
            digest=digest_case(case),
            answer=answer,
            marks=frozenset(_build_marks(case, first, build_draw(seed, minor).themes)),
            steps=first["steps"] or 0,
        )


def _choose(vectors: Sequence[Vector], wanted: int, coverage: Coverage) -> list[Vector]:
    seen: set[str] = set()
    chosen: dict[int, Vector] = {}
    for vector in vectors:
        if len(chosen) < wanted * 3 // 4 and not vector.marks <= seen:
            seen |= vector.marks
            chosen[vector.seed] = vector
    by_seed = {vector.seed: vector for vector in vectors}
    for seed in coverage.find_seeds(list(by_seed), list(chosen)):
        chosen[seed] = by_seed[seed]
    for least in (12, 4, 0):
        enough = len(chosen) + (wanted - len(chosen)) * 2 // 3 if least else wanted
        for vector in vectors:
            if len(chosen) < enough and vector.steps >= least:
                chosen.setdefault(vector.seed, vector)
    return [chosen[seed] for seed in sorted(chosen)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which statements of upstream's allocators cases run, as `file:from,to`."""

    program: Path  # built with `count_coverage`
    minor: str

    def find_seeds(self, seeds: Sequence[int], chosen: Sequence[int]) -> list[int]:
        """More seeds, so that with the chosen ones they run what all of them run."""
        missing = self._count(seeds)[0] - self._count(chosen)[0]
        found: list[int] = []

        def search(some: Sequence[int]) -> None:
            if not missing or not (runs := self._count(some)[0] & missing):
                return
            if len(some) == 1:
                found.extend(some)
                missing.difference_update(runs)
                return
            search(some[: len(some) // 2])
            search(some[len(some) // 2 :])

        rest = sorted(set(seeds) - set(chosen))
        for start in range(0, len(rest), 256):
            search(rest[start : start + 256])
        return found

    def list_missed(self, seeds: Sequence[int]) -> list[str]:
        """What none of them run."""
        runs, every = self._count(seeds)
        return sorted(every - runs)

    def _count(self, seeds: Sequence[int]) -> tuple[set[str], set[str]]:
        """What these run, and all there is."""
        with tempfile.TemporaryDirectory() as folder:
            cases = [build_case(seed, self.minor) for seed in seeds]
            list(ask_upstream(self.program, cases, "-timeout=500ms", coverage=Path(folder)))
            profile = Path(folder, "profile")
            subprocess.run(["go", "tool", "covdata", "textfmt", f"-i={folder}", f"-o={profile}"], check=True)
            blocks = [line.split() for line in profile.read_text().splitlines() if "/structured/internal/" in line]
        runs = {place for place, _, count in blocks if count != "0"}
        return runs, {place for place, _, _ in blocks}


def _build_marks(case: Json, answer: Json, themes: Sequence[str]) -> Iterator[str]:
    """What is in a case, and what came of it, as words."""
    result = f"{answer['outcome']} {answer['channel']}"
    for word in sorted(set(_build_words(case, ""))):
        yield f"{word}: {result}"
    for pair in combinations(themes, 2):
        yield f"{pair}: {answer['outcome']}"
    yield f"{re.sub(r'[a-z0-9./-]*[0-9][a-z0-9./-]*', '#', answer.get('error', ''))}: {answer['channel']}"


def _build_words(value: object, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            # Names that cases invent say nothing; but for what they are used for, one is like another.
            yield from _build_words(inner, f"{path}.{key}" if "/" not in key else path)
    elif isinstance(value, list):
        yield f"{path}[{min(len(value), 3)}]"
        for inner in value:
            yield from _build_words(inner, path)
    elif path.endswith((".name", ".id", ".minor", ".shareID", ".values", ".mode")):
        return
    else:
        yield f"{path}={value}"


if __name__ == "__main__":
    main()
