"""Records what upstream answers to random selectors, or shows where ours differ.

go build -o /tmp/selectors .
python compare.py /tmp/selectors 20000 SEED                    prints differences and counts
python compare.py /tmp/selectors 6000 SEED --record FILE       writes vectors on which both agree
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from oracle.selectors.questions import write_questions
from poolwright.allocation.features import Features
from poolwright.allocation.selectors import SelectorProblem, compile_selector
from selector_rows import build_device

FEATURES = Features(minor="1.37", list_type_attributes=True)
LIMIT = 1_000_000


def ask_upstream(program: str, questions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Upstream's answers, in the order of the questions."""
    text = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions)
    answered = subprocess.run([program], input=text, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in answered.stdout.splitlines()]


def answer(question: dict[str, Any]) -> tuple[str, int, str]:
    """Our outcome, cost and message."""
    compiled = compile_selector(question["expression"], FEATURES)
    if isinstance(compiled, SelectorProblem):
        return "error-compile", 0, compiled.message
    found, cost = compiled.run(build_device(question["device"]))
    if isinstance(found, bool):
        return str(found).lower(), cost, ""
    return "error-runtime", cost, found.message


def differs(ours: tuple[str, int, str], upstream: dict[str, Any]) -> str:
    """How an answer differs from upstream's: not at all (empty), or in what."""
    outcome, cost, message = ours
    if upstream["outcome"] == "unsteady" or "this tool doesn't evaluate" in message:
        return ""
    if upstream["outcome"] != outcome:
        return "panic upstream" if upstream["outcome"] == "panic" else "outcome"
    # Where upstream stops in the middle, and where it walks a map in random order, costs can't be compared.
    is_steady = upstream["cost"] >= 0 and cost <= LIMIT and "internal error" not in upstream.get("message", "")
    return "cost" if is_steady and upstream["cost"] != cost else ""


def main(program: str, count: str, seed: str, *record: str) -> None:
    questions = list(write_questions(int(count), int(seed)))
    counts: Counter[str] = Counter()
    rows = []
    for question, upstream in zip(questions, ask_upstream(program, questions), strict=True):
        ours = answer(question)
        counts[upstream["outcome"]] += 1
        difference = differs(ours, upstream)
        if difference:
            counts[f"differs in: {difference}"] += 1
            print(f"{difference}: {question['expression']}\n  ours {ours}\n  upstream {upstream}")
        elif upstream["outcome"] in ("true", "false", "error-runtime") and upstream["cost"] >= 0 and ours[1] <= LIMIT:
            rows.append({**question, "outcome": upstream["outcome"], "cost": upstream["cost"]})
    print(counts)
    if record:
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
        Path(record[1]).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
