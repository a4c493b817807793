"""A device selector: compiled once, evaluated on devices."""

from __future__ import annotations

from functools import lru_cache

from poolwright.allocation.features import Features
from poolwright.allocation.selectors.device_values import build_values, check_attributes
from poolwright.allocation.selectors.evaluate import PlanError, Program
from poolwright.allocation.selectors.problem import SelectorProblem, build_compile_problem
from poolwright.allocation.selectors.releases import check_opaque_attributes
from poolwright.allocation.selectors.suggest import suggest
from poolwright.allocation.selectors.values import Failure, Optional, type_name
from poolwright.catalog.cel import CelError, CelExpression, Read, find_reads, parse_cel
from poolwright.catalog.resource_slice import Device


class Selector:
    """A selector that compiles for a release's scheduler."""

    def __init__(self, expression: CelExpression, *, knows_lists: bool) -> None:
        self.text = expression.text
        self.reads: tuple[Read, ...] = find_reads(expression)
        self._knows_lists = knows_lists
        self._program = Program(expression.root)

    def evaluate(self, device: Device) -> bool | SelectorProblem:
        """Whether the device matches, or what went wrong at run time; never raises."""
        return self.explain(self.run(device)[0], device)

    def check(self, device: Device) -> Failure | None:
        """What makes every selector fail on this device; None if nothing does."""
        return check_attributes(device, knows_lists=self._knows_lists)

    def run(self, device: Device) -> tuple[bool | Failure, int]:
        """The answer without a hint, and its cost in CEL's units."""
        failed = self.check(device)
        if failed is not None:
            return failed, 0
        value, cost = self._program.run(build_values(device))
        while isinstance(value, Optional) and value.has_value:
            value = value.value  # upstream takes what an optional holds
        if isinstance(value, (bool, Failure)):
            return value, cost
        return Failure(f"CEL result of type {type_name(value)} could not be converted to bool"), cost

    def explain(self, answer: bool | Failure, device: Device) -> bool | SelectorProblem:
        """The answer on this device, with a hint where it is a failure."""
        if isinstance(answer, Failure):
            return SelectorProblem(kind="runtime", message=answer.message, hint=suggest(answer, device))
        return answer


def compile_selector(text: str, features: Features) -> Selector | SelectorProblem:
    """The selector in a text, or why it doesn't compile.

    Judged as the scheduler of `features.minor` judges what is stored: 1.37 takes every function that is known here. To
    1.34, 1.35 and, with its list gate off, 1.36, attributes are opaque values (see `releases.py`). How a function
    works and what it costs is 1.37's also for the others: 1.36 fails on includes() of a list of more than 48.
    Cost: some milliseconds the first time a text is seen, a lookup later.
    """
    return _compile(text, features.key, features.list_type_attributes)


@lru_cache(maxsize=4096)  # a fleet has few selectors, and asks for each of them many times
def _compile(text: str, release: int, has_lists: bool) -> Selector | SelectorProblem:
    try:
        expression = parse_cel(text)
    except CelError as error:
        return build_compile_problem(error)
    knows_lists = release >= 37 or (release == 36 and has_lists)
    complaint = "" if knows_lists else check_opaque_attributes(expression, release)
    if complaint:
        return SelectorProblem(kind="compile", message=complaint)
    try:
        return Selector(expression, knows_lists=knows_lists)
    except PlanError as error:
        return SelectorProblem(kind="compile", message=f"program instantiation failed: {error}")
