"""What registries are asked of a project's images and charts, and what their answers come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.charts import OPERATOR_CHART
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import StackLock
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.stack import Stack, StackSpec

_OWN_RULE: Final = "poolwright.dev/v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartName:
    """A chart at one version."""

    repo_url: str  # as Argo CD has it: a registry without `oci://`, or the address of a classic repository
    chart: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which digest is under a name?"""

    reference: str  # as `PinRequest.digests` has it: an image without digest, or REPOSITORY/CHART:VERSION
    digest: str | None = None  # what the stack writes beside it: the answer must equal it
    chart: ChartName | None = None  # None: it is an image
    place: Place  # the first that names it

    @property
    def subject(self) -> str:
        """What is asked for, as findings call it."""
        return f"{'chart' if self.chart else 'image'} {self.reference}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Why there is no digest. Texts as a finding has them, and nothing in them is a registry's own text."""

    code: str
    what: str  # completes "no digest of image NAME: ..."
    fix: str


Answers = Mapping[Question, str | Unanswered]  # a digest, or why there is none


def list_questions(specs: Specs, stacks: Mapping[str, StackLock]) -> tuple[Question, ...]:
    """Each image and chart of the resolved stacks once, in order of places.

    stacks: what `resolve_stacks` gave.
    """
    found: dict[tuple[str, str | None], Question] = {}
    asked = [
        question
        for stack in specs.stacks
        if stack.value.identity in stacks
        for question in _list_of_stack(stack, stacks[stack.value.identity])
    ]
    for question in sorted(asked, key=lambda one: one.place):
        found.setdefault((question.reference, question.digest), question)
    return tuple(found.values())


def _list_of_stack(stack: Spec[Stack], lock: StackLock) -> Iterator[Question]:
    for number, image in enumerate(stack.value.spec.serving_images):
        reference, _, digest = image.image.partition("@")
        place = stack.place("spec", "servingImages", number, "image")
        yield Question(reference=reference, digest=digest or None, place=place)
    for name, chart in lock.charts.items():
        yield Question(
            reference=f"{chart.repository}/{name}:{chart.version}",
            chart=ChartName(repo_url=chart.repository, chart=name, version=chart.version),
            place=stack.place(*_find_installer(name, stack.value.spec)),
        )


def _find_installer(chart: str, spec: StackSpec) -> FieldPath:
    """The field that a chart's version follows from; charts of drivers may be called otherwise than the driver."""
    if chart == OPERATOR_CHART:
        return ("spec", "gpuOperator", "version")
    installed = [number for number, one in enumerate(spec.dra_drivers) if one.install == "chart"]
    named = [number for number in installed if spec.dra_drivers[number].name == chart]
    return ("spec", "draDrivers", (named or installed)[0], "version")


def build_digests(answers: Answers) -> dict[str, str]:
    """The digests by reference, for `PinRequest.digests`.

    Raises: SpecError with every question that has no answer, or another one than the stack writes.
    """
    if problems := list(_check_answers(answers.items())):
        raise SpecError(problems)
    return {question.reference: answer for question, answer in answers.items() if isinstance(answer, str)}


def _check_answers(answers: Iterable[tuple[Question, str | Unanswered]]) -> Iterator[Finding]:
    for question, answer in answers:
        if isinstance(answer, Unanswered):
            yield Finding(
                code=answer.code,
                severity="error",
                place=question.place,
                what=f"no digest of {question.subject}: {answer.what}",
                why="a digest is written only as a registry gives it, and the lock only once all are there",
                rule=_OWN_RULE,
                fix=answer.fix,
            )
        elif question.digest is not None and question.digest != answer:
            yield Finding(
                code="registry-differs",
                severity="error",
                place=question.place,
                what=f"{question.subject} is {answer} in its registry, and {question.digest} in the stack",
                why="the digest decides what runs, so that the tag beside it says what isn't so",
                rule=_OWN_RULE,
                fix="write the digest that is meant, and the tag that has it",
            )
