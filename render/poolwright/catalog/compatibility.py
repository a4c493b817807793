"""Whether the exact versions of a stack go together, each answer with the row of the facts that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from poolwright.catalog.facts import Fact, Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.readings import F, list_disputes, list_readings
from poolwright.specs.stack import DraDriver, StackSpec
from poolwright.specs.version import Version, parse_version

if TYPE_CHECKING:
    from poolwright.catalog.tables.operator import ComponentFact, GpuDriverFact, MinimumFact, OperatorLineFact

Word = Literal["supported", "unsupported", "unlisted", "disputed"]
_LINES: Final = "operator-lines"
WORDS: Final[tuple[Word, ...]] = ("unsupported", "disputed", "unlisted", "supported")  # worst first


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Two versions, or one, and what is said of them."""

    subject: str  # `GPU Operator 26.7.0 with Kubernetes 1.36.2`
    word: Word
    why: str
    row: str  # the table and its key; of what isn't listed, the table
    source: str = ""
    date: str = ""
    verified: bool = True
    own: bool = False  # a project's own row says so


def judge_stack(stack: StackSpec, facts: Facts) -> tuple[Answer, ...]:
    """Everything that the facts say of a stack's versions; the operator's answers first.

    stack: with exact versions; of a range nothing is said.
    """
    own = facts.list_own_sources()
    return tuple(replace(one, own=one.source in own) for one in _list_answers(stack, facts))


def find_worst(answers: Iterable[Answer]) -> Word:
    """The word for all together; `unlisted` where nobody says anything."""
    words = {one.word for one in answers}
    return next((word for word in WORDS if word in words), "unlisted")


def _list_answers(stack: StackSpec, facts: Facts) -> Iterator[Answer]:
    operator, kubernetes = stack.gpu_operator, _parse(stack.kubernetes.version)
    line = facts.operator_line(operator.version) if operator else None
    if operator:
        yield _judge_operator(operator.version, line, facts)
    if operator and line and kubernetes:
        yield _settle(_LINES, [line], lambda rows: _judge_kubernetes(operator.version, kubernetes, rows[0]))
        if operator.mode == "gpuCluster" and _is_said(line, "dra_kubernetes_minimum"):
            subject = f"GPUCluster of {operator.version} with Kubernetes {kubernetes}"
            newest = _find_newest("kubernetes", facts)
            yield _settle(_LINES, [line], partial(_judge_least, subject, kubernetes, newest, "dra_kubernetes_minimum"))
    if operator and line and operator.mode == "gpuCluster":
        yield _settle(_LINES, [line], lambda rows: _judge_resource(operator.version, rows[0]))
    if operator and line and stack.gpu_driver:
        yield from _judge_gpu_driver(
            operator.version, operator.mode == "gpuCluster", stack.gpu_driver.version, line, facts
        )
    if stack.container_runtime and _parse(stack.container_runtime.version):
        name, version = stack.container_runtime.name, stack.container_runtime.version
        if operator and line:
            yield _settle(_LINES, [line], lambda rows: _judge_runtime(operator.version, name, version, rows[0]))
        else:
            why = "what goes with a runtime is listed by lines of the operator that are known"
            yield Answer(subject=f"{name} {version}", word="unlisted", why=why, row="operator-lines.json")
    for driver in stack.dra_drivers:
        if is_nvidia_package(driver.name, facts):
            yield from _judge_dra_driver(stack, driver, line, facts)


def list_unspoken(stack: StackSpec, facts: Facts) -> tuple[str, ...]:
    """Components of which no table says anything, with their versions: they count in no answer."""
    return tuple(f"{one.name} {one.version}" for one in stack.dra_drivers if not is_nvidia_package(one.name, facts))


def _judge_operator(version: str, line: OperatorLineFact | None, facts: Facts) -> Answer:
    """Its life cycle; a release that nobody listed isn't known to be anything."""
    subject, release = f"GPU Operator {version}", facts.operator_release(version)
    if line is None or release is None:
        why = (
            "no such release is known here"
            if line is None
            else f"its line {line.line} is known, and this release isn't"
        )
        return Answer(subject=subject, word="unlisted", why=why, row="operator-releases.json")
    if not release.verified:
        why = f"only this is known of it: {release.note or release.source}"
        return _answer(subject, "unlisted", why, f"operator-releases.json {release.version}", release)
    return _settle(_LINES, [line], lambda rows: _judge_lifecycle(subject, rows[0]))


def _judge_lifecycle(subject: str, line: OperatorLineFact) -> Answer:
    row = f"operator-lines.json {line.line}"
    if line.lifecycle == "endOfSupport":
        return _answer(subject, "unsupported", f"the line {line.line} is at the end of its support", row, line)
    why = f"the line {line.line} is {'deprecated, and ' if line.lifecycle == 'deprecated' else ''}supported"
    return _answer(subject, "supported", why, row, line)


def _judge_resource(operator: str, line: OperatorLineFact) -> Answer:
    """Whether the line has the resource by which the operator manages the DRA driver."""
    subject, row = f"GPUCluster of GPU Operator {operator}", f"operator-lines.json {line.line}"
    if line.manages_dra_driver:
        return _answer(subject, "supported", "the line manages the DRA driver", row, line)
    return _answer(subject, "unsupported", "the line has no GPUCluster, and manages no DRA driver", row, line)


def _judge_kubernetes(operator: str, kubernetes: Version, line: OperatorLineFact) -> Answer:
    subject, row = f"GPU Operator {operator} with Kubernetes {kubernetes}", f"operator-lines.json {line.line}"
    low, high = parse_version(line.kubernetes_minimum), parse_version(line.kubernetes_maximum)
    minor = parse_version(kubernetes.minor)
    listed = f"{line.kubernetes_minimum} to {line.kubernetes_maximum} are listed"
    if minor > high:
        return _answer(subject, "unlisted", f"{listed}: the matrix ends there", row, line)
    since = line.kubernetes_maximum_since
    if minor == high and since and parse_version(operator) < parse_version(since):
        return _answer(subject, "unsupported", f"{kubernetes.minor} is listed from {since} on", row, line)
    return _answer(subject, "supported" if minor >= low else "unsupported", listed, row, line)


def _judge_gpu_driver(
    operator: str, by_claims: bool, text: str, line: OperatorLineFact, facts: Facts
) -> Iterator[Answer]:
    driver = _parse(text)
    if driver is None:
        return
    subject = f"GPU Operator {operator} with GPU driver {driver}"
    rows = [
        f for f in facts.operator_gpu_drivers if f.line == line.line and f.release in (None, operator.removeprefix("v"))
    ]
    yield _settle(
        "operator-gpu-drivers", rows, partial(_judge_listed, subject, driver, f"operator-gpu-drivers.json {line.line}")
    )
    if by_claims and _is_said(line, "dra_gpu_driver_minimum"):
        least = f"GPUCluster of {operator} with GPU driver {driver}"
        newest = _find_newest("gpuDriver", facts)
        yield _settle(_LINES, [line], partial(_judge_least, least, driver, newest, "dra_gpu_driver_minimum"))


def _judge_listed(subject: str, driver: Version, row: str, rows: Sequence[GpuDriverFact]) -> Answer:
    own = [fact for fact in rows if _is_listed(driver, fact)]
    branch = [fact for fact in rows if parse_version(fact.version).key[0][:1] == driver.key[0][:1]]
    if own:
        return _answer(subject, "supported", f"{_say_listed(own[0])} is listed", f"{row} {own[0].version}", own[0])
    if branch:
        why = f"of its branch {', '.join(map(_say_listed, branch))} is listed, and this patch isn't"
        return _answer(subject, "unlisted", why, f"{row} {branch[0].version}", branch[0])
    if rows:
        why = f"its branch isn't listed: {', '.join(map(_say_listed, rows))}"
        return _answer(subject, "unsupported", why, row, rows[0])
    return Answer(subject=subject, word="unlisted", why="no driver is listed for this release", row=row)


def _is_listed(driver: Version, fact: GpuDriverFact) -> bool:
    return parse_version(fact.version) <= driver <= parse_version(fact.version_maximum or fact.version)


def _say_listed(fact: GpuDriverFact) -> str:
    return f"{fact.version} to {fact.version_maximum}" if fact.version_maximum else fact.version


def _judge_runtime(operator: str, name: str, text: str, line: OperatorLineFact) -> Answer:
    subject, row = f"GPU Operator {operator} with {name} {text}", f"operator-lines.json {line.line}"
    if name == "crio":
        note = f"; {line.note}" if line.note else ""
        if line.crio:
            return _answer(subject, "unlisted", f"CRI-O is listed, and no version of it{note}", row, line)
        return _answer(subject, "unsupported", f"CRI-O isn't listed{note}", row, line)
    low, high = parse_version(line.containerd_minimum), parse_version(line.containerd_maximum)
    minor, listed = parse_version(parse_version(text).minor), f"{low} to {high} are listed"
    if minor > high:
        return _answer(subject, "unlisted", f"{listed}: the matrix ends there", row, line)
    return _answer(subject, "supported" if minor >= low else "unsupported", listed, row, line)


def _judge_dra_driver(
    stack: StackSpec, driver: DraDriver, line: OperatorLineFact | None, facts: Facts
) -> Iterator[Answer]:
    """Whether it is known, who carries it, and what it asks of the others at least."""
    operator = stack.gpu_operator
    if _parse(driver.version) and facts.driver_release(driver.version) is None:
        subject = f"DRA driver {driver.version}"
        yield Answer(subject=subject, word="unlisted", why="no such release is known here", row="driver-releases.json")
    if operator and line and driver.install == "gpuOperator":
        carried = facts.operator_component(operator.version, "draDriver")
        subject = f"GPU Operator {operator.version} with DRA driver {driver.version}"
        if carried is None or carried.version is None:
            row = f"operator-components.json {operator.version} draDriver"
            yield Answer(subject=subject, word="unlisted", why="which one it carries isn't known", row=row)
        else:
            yield _settle("operator-components", [carried], partial(_judge_carried, subject, driver.version))
    if operator and line and driver.install == "chart" and _is_said(line, "standalone_dra_drivers"):
        beside = f"GPU Operator {operator.version} with the chart of DRA driver {driver.version}"
        yield _settle(_LINES, [line], lambda rows: _judge_standalone(beside, driver.version, rows[0]))
    parts = {
        "kubernetes": ("Kubernetes", stack.kubernetes.version),
        "gpuDriver": ("GPU driver", stack.gpu_driver and stack.gpu_driver.version),
        "containerToolkit": ("container toolkit", stack.container_toolkit and stack.container_toolkit.version),
    }
    uses = {"gpus", "all", driver.install}
    uses |= set() if driver.settings.get("computeDomains") == "disabled" else {"computeDomains"}
    for fact in facts.driver_minimums:
        name, text = parts.get(fact.part, ("", None))
        version = _parse(text) if text else None
        if version is not None and fact.use in uses and fact.install in ("any", driver.install):
            subject = f"DRA driver {driver.version} with {name} {version}"
            newest = _find_newest(fact.part, facts)
            yield _settle("driver-minimums", [fact], partial(_judge_minimum, subject, version, newest))


def _is_of(version: str, pair: str) -> bool:
    text = version.removeprefix("v")
    return text == pair or (pair.endswith(".x") and text.startswith(pair.removesuffix("x")))


def _judge_carried(subject: str, version: str, rows: Sequence[ComponentFact]) -> Answer:
    (carried,) = rows
    is_same = carried.version is not None and parse_version(carried.version) == parse_version(version)
    word: Word = "supported" if is_same and carried.verified else "unlisted" if is_same else "unsupported"
    row = f"operator-components.json {carried.release} draDriver"
    return _answer(subject, word, f"its chart carries {carried.version or 'none'}", row, carried)


def _judge_standalone(subject: str, version: str, line: OperatorLineFact) -> Answer:
    is_pair = any(_is_of(version, pair) for pair in line.standalone_dra_drivers)
    why = f"{', '.join(line.standalone_dra_drivers) or 'none'} go with it"
    return _answer(subject, "supported" if is_pair else "unlisted", why, f"operator-lines.json {line.line}", line)


def _judge_minimum(subject: str, version: Version, newest: str | None, rows: Sequence[MinimumFact]) -> Answer:
    (fact,) = rows
    word, why = _compare_least(version, fact.minimum, newest)
    return _answer(subject, word, why, f"driver-minimums.json {fact.part} {fact.use} {fact.install}", fact)


def _compare_least(version: Version, minimum: str | None, newest: str | None) -> tuple[Word, str]:
    """What a page says that prints a least version and no greatest: of what came after it was written, nothing."""
    if minimum is not None and version < parse_version(minimum):
        return "unsupported", f"{minimum} is the least"
    why = f"{minimum or 'nothing'} is the least"
    if newest is not None and _is_later(version, newest):
        return "unlisted", f"{why}, and {newest} the newest that is known here"
    return "supported", why


def _is_later(version: Version, newest: str) -> bool:
    """newest: a release without its patches, as in 1.37 or 610."""
    numbers = tuple(int(part) for part in newest.split("."))
    return tuple(int(part) for part in version.minor.split("."))[: len(numbers)] > numbers


def _find_newest(part: str, facts: Facts) -> str | None:
    """The newest minor release, or of GPU drivers the newest branch, of which any table says anything."""
    match part:
        case "kubernetes":
            return max((fact.minor for fact in facts.kubernetes), key=parse_version, default=None)
        case "gpuDriver":
            numbers = {parse_version(fact.version).minor.split(".")[0] for fact in facts.operator_gpu_drivers}
            return max(numbers, key=int, default=None)
        case "containerToolkit":
            found = [one.version for one in facts.operator_components if one.component == "toolkit" and one.version]
            return max((parse_version(one).minor for one in found), key=parse_version, default=None)
    return None


def _judge_least(
    subject: str,
    version: Version,
    newest: str | None,
    field: Literal["dra_kubernetes_minimum", "dra_gpu_driver_minimum"],
    rows: Sequence[OperatorLineFact],
) -> Answer:
    (line,) = rows
    minimum = line.dra_kubernetes_minimum if field == "dra_kubernetes_minimum" else line.dra_gpu_driver_minimum
    word, why = _compare_least(version, minimum, newest)
    return _answer(subject, word, why, f"operator-lines.json {line.line}", line)


def _is_said(line: OperatorLineFact, field: str) -> bool:
    """Whether the row, or another source's reading of it, says anything of a field."""
    readings = (one.rows[0] for one in list_readings(_LINES, [line]))
    return any(getattr(one, field) for one in (line, *readings))


def _settle(table: str, rows: Sequence[F], judge: Callable[[Sequence[F]], Answer]) -> Answer:
    """The answer of rows; disputed, with both sides, if it would be another as some other source prints them."""
    own = judge(rows)
    against = list_disputes(table, rows, judge, lambda answer: answer.word)
    if not against:
        return own
    said = "; ".join(f"{one.answer.word} by {one.said} ({one.source})" for one in against)
    counted = dict.fromkeys(one.counted for one in against)
    return replace(own, word="disputed", why=f"{own.why}: {own.word} by {', '.join(counted)}; {said}")


def _answer(subject: str, word: Word, why: str, row: str, fact: Fact) -> Answer:
    return Answer(
        subject=subject, word=word, why=why, row=row, source=fact.source, date=fact.date, verified=fact.verified
    )


def _parse(text: str) -> Version | None:
    """None: it is a range."""
    try:
        return parse_version(text)
    except ValueError:
        return None
