"""Why a subject wasn't placed: every reason, those that decide first, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from poolwright.allocation.claim import ALL, Claim, ClaimRequest, DeviceClass, Request
from poolwright.allocation.constraints import find_attribute
from poolwright.allocation.node_selector import find_named_node
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp, NotAllocated
from poolwright.allocation.placing import Barred, Placement, Placer, is_usable
from poolwright.allocation.reasons.clauses import is_about_driver, say_attribute, split_clauses
from poolwright.allocation.reasons.devices import DeviceReasons
from poolwright.allocation.reasons.holders import Holders
from poolwright.allocation.reasons.reason import Reason
from poolwright.allocation.reasons.trials import Trials, drop_constraint, keep_request, lower_count
from poolwright.allocation.subject import claim_key
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device

MAX_NAMED: Final = 3  # nodes, values and the like that a line names
MAX_TOGETHER: Final = 8  # claims that are tried to be released together
_BLOCKED: Final = ("held", "room", "counters")


def explain(placer: Placer, placement: Placement) -> tuple[Reason, ...]:
    """Why a subject has no devices, or not all.

    placer: in the state in which the subject was tried. It is as it was afterwards.
    Cost:   as trying the subject some hundred times at most.
    """
    if placement.problem:
        return (Reason(kind="claim", line=placement.problem, hint=placement.hint),)
    return tuple(_Explanation(placer, placement).list_reasons())


class _Explanation:
    def __init__(self, placer: Placer, placement: Placement) -> None:
        self._placer = placer
        self._placement = placement
        self._nodes = {node.name: node for node in placer.nodes}
        self._claims = [claim for claim in placement.subject.claims if claim_key(claim) not in placement.found]
        self._asked = self._list_nodes(NotAllocated)
        self._devices = DeviceReasons(placer.allocator.knowledge, placer.held, Holders(placer.allocations))
        self._trials = Trials(placer)

    def list_reasons(self) -> Iterator[Reason]:
        yield from self._list_errors()
        gave_up = self._list_nodes(GaveUp)
        if gave_up:
            yield _build_gave_up(gave_up)
        funnels = [self._devices.explain(*entry, self._asked) for entry in self._list_requests()] if self._asked else []
        pools = list(self._list_pools())
        if any(map(_is_empty, funnels)):  # then it's the pools that decide
            yield from pools
            pools = []
        yield from sorted(funnels, key=lambda reason: not _is_short(reason))
        if self._asked and not any(map(_is_short, funnels)) and self._placement.error is None:
            yield from self._list_conflicts()
        yield from pools
        yield from self._list_bars()
        yield from self._list_mends(funnels)

    def _list_nodes(self, kind: type) -> list[Node]:
        answers = self._placement.answers
        return [self._nodes[name] for name, answer in answers.items() if isinstance(answer, kind)]

    def _list_requests(self) -> Iterator[tuple[Claim, str, Request, DeviceClass]]:
        """Each request and alternative whose class is there, by claim."""
        for claim in self._claims:
            for entry in claim.requests:
                for name, request in _list_alternatives(entry):
                    device_class = self._placer.allocator.knowledge.classes.get(request.class_name)
                    if device_class is not None:
                        yield claim, name, request, device_class

    def _list_errors(self) -> Iterator[Reason]:
        found: dict[tuple[str, str], tuple[AttemptError, list[str]]] = {}
        for name, answer in self._placement.answers.items():
            if isinstance(answer, AttemptError):
                found.setdefault((_say_any_device(answer), answer.selector), (answer, []))[1].append(name)
        for answer, names in found.values():
            claim = "" if answer.claim is None else self._claims[answer.claim].title
            line = f"the attempt ends on {_say_nodes(names)}: {answer.message}{_quote_selector(answer)}"
            yield Reason(kind="error", line=line, claim=claim, nodes=tuple(names), hint=answer.hint)

    def _list_pools(self) -> Iterator[Reason]:
        found: dict[str, tuple[list[str], list[str]]] = {}
        for node in self._asked:
            pools = self._placer.allocator.pools(node)
            unusable = [
                (pool.id, f"{pool.state}: {pool.reason}")
                for pool in pools.pools
                if pool.state != "usable" and not pool.candidates
            ]
            unusable += [(one, "obsolete: a newer generation has no slice for the node yet") for one in pools.obsolete]
            for pool_id, state in unusable:
                if self._could_serve(pool_id[0]):
                    titles, names = found.setdefault(state, ([], []))
                    titles.append("/".join(pool_id))
                    names.append(node.name)
        for state, (titles, names) in found.items():
            several = dict.fromkeys(titles)
            start = f"pool {titles[0]} is" if len(several) == 1 else f"{len(several)} pools are"
            named = "" if len(several) == 1 else f" ({_say_nodes(list(several))})"
            hint = (
                "" if state.startswith("invalid") else "a moment of the node: ask again once its driver has published"
            )
            line = f"{start} {state}{named}; nothing of it is given on {_say_nodes(list(dict.fromkeys(names)))}"
            yield Reason(kind="pool", line=line, nodes=tuple(dict.fromkeys(names)), hint=hint)

    def _could_serve(self, driver: str) -> bool:
        """Whether a request could be for devices of a driver."""
        probe = Device(driver=driver, pool="", name="")
        matches = self._placer.allocator.knowledge.selectors.matches
        return any(
            all(
                matches(clause, probe) is True
                for text in (*device_class.selectors, *request.selectors)
                for clause in split_clauses(text or "")
                if is_about_driver(clause)
            )
            for _, _, request, device_class in self._list_requests()
        )

    def _list_bars(self) -> Iterator[Reason]:
        found: dict[str, list[str]] = {}
        for name, answer in self._placement.answers.items():
            if isinstance(answer, Barred):
                found.setdefault(answer.reason, []).append(name)
        for reason, names in found.items():
            yield Reason(kind="node", line=f"{_say_nodes(names)}: {reason}", nodes=tuple(names))

    def _list_conflicts(self) -> Iterator[Reason]:
        """What keeps devices apart that are there one by one."""
        found = list(self._list_constraints())
        yield from found or self._list_together()

    def _list_constraints(self) -> Iterator[Reason]:
        for at, claim in enumerate(self._claims):
            for number, constraint in enumerate(claim.constraints):
                served = self._trials.serve(drop_constraint(self._claims, at, number), self._asked)
                if served is None:
                    continue
                kind = "matchAttribute" if constraint.match_attribute else "distinctAttribute"
                name = constraint.match_attribute or constraint.distinct_attribute or ""
                over = f" over {', '.join(constraint.requests)}" if constraint.requests else ""
                said = self._say_values(claim, constraint.requests, name, self._nodes[served.node])
                line = f"{kind} {name}{over} can't be met: {said}; without it {served.node} could serve it"
                yield Reason(kind="constraint", line=line, claim=claim.title, nodes=(served.node,))

    def _say_values(self, claim: Claim, names: Sequence[str], attribute: str, node: Node) -> str:
        """Which values the devices have that a node has left for each request."""
        said = []
        for entry in claim.requests:
            for name, request in _list_alternatives(entry):
                device_class = self._placer.allocator.knowledge.classes.get(request.class_name)
                alternative = request.name if entry.first_available else ""
                if device_class is None or (names and not _is_named(names, entry.name, alternative)):
                    continue
                values: Counter[str] = Counter()
                for candidate in self._devices.list_left(request, device_class, node):
                    found = find_attribute(candidate.device, attribute)
                    values["none" if found is None else say_attribute(found)] += 1
                shown = [
                    f"{value} ({count} devices)" if count > 1 else value for value, count in sorted(values.items())
                ]
                more = f" and {len(shown) - MAX_NAMED} more" if len(shown) > MAX_NAMED else ""
                said.append(f"request {name} has {', '.join(shown[:MAX_NAMED]) or 'no device'}{more}")
        return f"on {node.name} {'; '.join(said)}"

    def _list_together(self) -> Iterator[Reason]:
        for claim in self._claims:
            for number, entry in enumerate(claim.requests):
                alone = keep_request(claim, number)
                if not self._trials.serve((alone,), self._asked):
                    if not self._trials.is_spent:
                        yield self._build_crowded(alone, entry)
                    return
        names = [f"{claim.title}: {entry.name}" for claim in self._claims for entry in claim.requests]
        if len(names) > 1:
            line = f"each request can be served by itself, but not all on one node: {', '.join(names)}"
            yield Reason(kind="together", line=line)

    def _build_crowded(self, alone: Claim, entry: ClaimRequest) -> Reason:
        """A request whose devices are left one by one, and can't be given at once."""
        count, most = None, None
        if entry.exactly is None:
            said = "no alternative can be given whole"
        elif entry.exactly.mode == ALL:
            said = "all that match are wanted, and can't be given at once"
        else:
            count = entry.exactly.count
            fewer = range(count - 1, 0, -1)
            found = (n for n in fewer if self._trials.serve((lower_count(alone, 0, n),), self._asked))
            most = next(found, None)
            if most is None and not self._trials.is_spent:
                most = 0
            said = (
                f"{count} wanted, " + ("not as many" if most is None else f"at most {most}") + " can be given at once"
            )
        line = f"request {entry.name}: {said}: its devices take from the same counters or exclude each other"
        return Reason(kind="together", line=line, claim=alone.title, request=entry.name, asked=count, most=most)

    def _list_mends(self, funnels: Sequence[Reason]) -> Iterator[Reason]:
        own = {claim.title for claim in self._placement.subject.claims}  # given back, they would be asked for again
        parts = [part for one in funnels for part in one.parts if part.kind in _BLOCKED]
        blocked = [tuple(name for name in part.holders if name not in own) for part in parts]
        found = list(self._list_releases([(name,) for name in sorted({name for names in blocked for name in names})]))
        # Where no single claim is enough: all that are in the way of the same devices, the fewest first.
        groups = sorted({names for names in blocked if 1 < len(names) <= MAX_TOGETHER}, key=lambda one: (len(one), one))
        if self._placement.error is None:  # else the attempt ends all the same
            yield from found or list(self._list_releases(groups))[:1]
        yield from self._list_kept_out()
        if self._placement.error is None:
            yield from self._list_given_back()
        else:
            yield from self._list_kept_away(self._placement.error[0])

    def _list_kept_out(self) -> Iterator[Reason]:
        """Nodes that have the devices and aren't open to the pod: the first of them."""
        barred = [node for node in self._list_nodes(Barred) if self._claims]
        served = self._trials.serve(self._claims, barred) if barred else None
        if served is not None:
            answer = self._placement.answers[served.node]
            is_unknown = isinstance(answer, Barred) and answer.is_unknown
            said = "and whether it is open to the pod isn't known" if is_unknown else "but isn't open to the pod"
            line = f"{served.node} has the devices ({', '.join(served.devices)}), {said}"
            yield Reason(kind="mend", line=line, nodes=(served.node,))

    def _list_given_back(self) -> Iterator[Reason]:
        """Claims of the pod alone that are allocated where it can't run, and where it could run without them."""
        away = {
            name: answer.claim
            for name, answer in self._placement.answers.items()
            if isinstance(answer, Barred) and answer.claim is not None
        }
        if self._placement.is_unknown:
            return  # only where no node can serve the pod
        found = {claim_key(claim): claim for claim in self._placement.subject.claims}
        for key in dict.fromkeys(away.values()):
            nodes = [self._nodes[name] for name, one in away.items() if one == key]
            others = [self._placer.allocations[one] for one in self._placement.found if one != key]
            usable = [node for node in nodes if all(is_usable(one, node) for one in others)]
            home = find_named_node(self._placer.allocations[key].node_selector)
            if not self._placer.is_given_back(key, self._placement.subject) or (home and home not in self._nodes):
                continue
            served = self._trials.serve_without([key], (*self._claims, found[key]), usable)
            if served is not None:
                line = (
                    f"kube-scheduler takes back what claim {'/'.join(key)} has, which is reserved for no other pod, "
                    f"and tries again: then {served.node} could serve it ({', '.join(served.devices)})"
                )
                yield Reason(kind="mend", line=line, claim="/".join(key), nodes=(served.node,))

    def _list_releases(self, groups: Iterable[Sequence[str]]) -> Iterator[Reason]:
        for titles in groups:
            # A slot's claim has its workload's title in its name, with a slash; no namespace has one.
            keys = [(title.partition("/")[0], title.partition("/")[2]) for title in titles]
            served = self._trials.serve_without(keys, self._claims, self._asked)
            if served is None:
                continue
            names = [
                f"{title} ({', '.join(one.device for one in self._placer.allocations[key].devices)})"
                for title, key in zip(titles, keys, strict=True)
            ]
            said = f"claim{'s' if len(names) > 1 else ''} {' and '.join(names)}"
            start = "releasing" if all(key in self._placer.before for key in keys) else "not giving devices to"
            line = f"{start} {said} would make room: {', '.join(served.devices)} on {served.node}"
            yield Reason(kind="mend", line=line, claim=titles[0] if len(titles) == 1 else "", nodes=(served.node,))

    def _list_kept_away(self, ended: str) -> Iterator[Reason]:
        """The nodes that could serve the subject, if its attempt didn't end on another one."""
        names = [name for name, answer in self._placement.answers.items() if isinstance(answer, Allocated)]
        if names:
            line = f"{_say_nodes(names)} could serve it; the error on {ended} ends the attempt for every node"
            yield Reason(kind="mend", line=line, nodes=tuple(names))


def _list_alternatives(entry: ClaimRequest) -> list[tuple[str, Request]]:
    if entry.exactly is not None:
        return [(entry.name, entry.exactly)]
    return [(f"{entry.name}/{request.name}", request) for request in entry.first_available]


def _is_named(names: Sequence[str], base: str, alternative: str) -> bool:
    return base in names or (alternative != "" and f"{base}/{alternative}" in names)


def _is_short(reason: Reason) -> bool:
    """Whether no node has enough for the request, even by itself."""
    if reason.asked is None:
        return reason.left == 0 or any(part.kind not in ("clause", "capacity") for part in reason.parts)
    return (reason.most or 0) < reason.asked


def _is_empty(reason: Reason) -> bool:
    """Whether no device of the driver was even looked at."""
    return reason.devices == sum(part.devices for part in reason.parts if part.is_foreign)


def _say_any_device(error: AttemptError) -> str:
    """The message without the device it is about, so that the same one on many nodes is said once."""
    return error.message.replace(f" on device {'/'.join(error.device)}", "") if error.device else error.message


def _quote_selector(error: AttemptError) -> str:
    if not error.selector:
        return ""
    whose = "" if error.selector_of.startswith("class") else f"{error.selector_of}, "
    return f" ({whose}{error.selector})"


def _build_gave_up(nodes: Sequence[Node]) -> Reason:
    names = [node.name for node in nodes]
    line = (
        f"the search on {_say_nodes(names)} was given up: whether the devices there can be combined isn't known, and "
        "kube-scheduler may run out of time as well"
    )
    return Reason(kind="gave-up", line=line, nodes=tuple(names))


def _say_nodes(names: Sequence[str]) -> str:
    if len(names) <= MAX_NAMED:
        return ", ".join(names)
    return f"{len(names)} nodes ({', '.join(names[:MAX_NAMED])}, ...)"
