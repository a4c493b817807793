"""One scheduling attempt: the claims of a pod on one node.

Source: k8s.io/dynamic-resource-allocation structured, allocator_incubating.go of v0.34 to v0.37.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from poolwright.allocation.capacity import CapacityError, find_consumed, has_room
from poolwright.allocation.check_request import check_gates, check_request
from poolwright.allocation.claim import ALL, MAX_RESULTS, Claim, ClaimRequest, Request
from poolwright.allocation.constraints import ConstraintState, applies_to, build_constraint, find_attribute
from poolwright.allocation.held import NO_CAPACITY, DeviceId, Held
from poolwright.allocation.knowledge import Knowledge
from poolwright.allocation.need import Need, NeedsOfClaim
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp, NotAllocated, Outcome
from poolwright.allocation.pools import Candidate, NodePools, Pool
from poolwright.allocation.result import build_allocation
from poolwright.allocation.search import Search, SearchLimitError
from poolwright.allocation.selectors import SelectorProblem, compile_derived
from poolwright.allocation.trial import ConstraintError, Trial
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import AttributeOnDevice

MAX_NAMED: Final = 10  # classes that a hint names


class _StopError(Exception):
    """The attempt ends."""

    def __init__(self, error: AttemptError) -> None:
        super().__init__(error.message)
        self.error = error


class Attempt:
    """What an attempt works with. Nothing that is handed in is changed."""

    def __init__(self, knowledge: Knowledge, node: Node, claims: Sequence[Claim], held: Held, max_looks: int) -> None:
        self._knowledge = knowledge
        self._features = knowledge.features
        self._node = node
        self._claims = claims
        self._held = held
        self._max_looks = max_looks

    def run(self) -> Outcome:
        """The answer; see Allocator.allocate."""
        pools = self._knowledge.pools(self._node)
        if pools.error:
            return AttemptError(message=f"gather pool information: {pools.error}")
        try:
            needs = [self._build_needs(index, claim, pools) for index, claim in enumerate(self._claims)]
            return self._search(needs, pools)
        except _StopError as stop:
            return stop.error

    def _search(self, needs: Sequence[NeedsOfClaim], pools: NodePools) -> Outcome:
        held, knowledge = self._held, self._knowledge
        trial = Trial(
            len(self._claims),
            held,
            self._features,
            self._node.declared_features,
            lambda pool: knowledge.available(pool, held),
            lambda pool: knowledge.peers(pool, held),
            self._find_attribute,
        )
        search = Search(
            needs=needs,
            candidates=pools.candidates,
            trial=trial,
            features=self._features,
            is_selectable=self._is_selectable,
            has_capacity=self._has_capacity,
            max_looks=self._max_looks,
        )
        try:
            found = search.run()
        except SearchLimitError:
            return GaveUp(steps=search.steps, looked_at=search.looks)
        except ConstraintError as error:
            raise self._stop(error.need, _say_constraint(error.candidate), error.candidate.id) from None
        if not found:
            invalid = next((pool for pool in pools.pools if pool.state == "invalid"), None)
            if invalid is not None and self._features.key == 34:
                return AttemptError(message=f"pool {invalid.id[1]} is invalid: {invalid.reason}", steps=search.steps)
            return NotAllocated(steps=search.steps, invalid_pools=invalid is not None)
        chosen = search.chosen()
        allocations = tuple(
            build_allocation(
                claim,
                trial.results[index],
                [alternatives[chosen.get((index, at), 0)] for at, alternatives in enumerate(needs[index])],
                self._node,
                self._features,
            )
            for index, claim in enumerate(self._claims)
        )
        return Allocated(allocations=allocations, steps=search.steps)

    def _build_needs(self, index: int, claim: Claim, pools: NodePools) -> NeedsOfClaim:
        """The claim's requests, checked; in the order that upstream finds the first problem in."""
        states = [build_constraint(constraint, self._features) for constraint in claim.constraints]
        known = [state for state in states if state is not None]
        least, needs = 0, []
        for entry in claim.requests:
            problem = check_gates(claim, entry, self._features)
            if problem:
                raise _StopError(AttemptError(message=problem, claim=index))
            alternatives = self._build_alternatives(index, claim, entry, known, pools)
            count = min(need.count for need in alternatives)
            if count > MAX_RESULTS - least:
                message = (
                    f"claim {claim.title}, request {entry.name}: adding {count} devices exceeds the claim limit of "
                    f"{MAX_RESULTS}, with {least} already accounted for"
                )
                raise _StopError(AttemptError(message=message, claim=index))
            least += count
            needs.append(alternatives)
        if None in states:
            what = "empty constraint (unsupported constraint type?)"
            message = f"claim {claim.title}, constraint #{states.index(None)}: {what}"
            raise _StopError(AttemptError(message=message, claim=index))
        return tuple(needs)

    def _build_alternatives(
        self, index: int, claim: Claim, entry: ClaimRequest, constraints: Sequence[ConstraintState], pools: NodePools
    ) -> tuple[Need, ...]:
        if entry.exactly is not None:
            return (self._build_need(index, claim, entry.name, "", entry.exactly, constraints, pools),)
        return tuple(
            self._build_need(index, claim, entry.name, alternative.name, alternative, constraints, pools)
            for alternative in entry.first_available
        )

    def _build_need(
        self,
        index: int,
        claim: Claim,
        base: str,
        alternative: str,
        request: Request,
        constraints: Sequence[ConstraintState],
        pools: NodePools,
    ) -> Need:
        device_class = self._knowledge.classes.get(request.class_name)
        problem = check_request(claim, request, device_class, self._features)
        if problem or device_class is None:
            hint = "" if device_class is not None else say_classes(self._knowledge.classes)
            raise _StopError(AttemptError(message=problem or "", claim=index, hint=hint))
        need = Need(
            claim=index,
            request=request,
            base=base,
            alternative=alternative,
            device_class=device_class,
            constraints=tuple(state for state in constraints if applies_to(state.constraint, base, alternative)),
            count=request.count,
            matches=self._knowledge.matches(device_class, request),
            consumption=self._knowledge.consumption(request),
        )
        if request.mode == ALL:
            need.all_devices = self._list_all(need, pools)
            need.count = len(need.all_devices)
        return need

    def _list_all(self, need: Need, pools: NodePools) -> tuple[tuple[Pool, Candidate], ...]:
        """The devices that All is about: those that match, whoever holds them."""
        found = []
        for pool in pools.pools:
            if pool.state != "usable":
                state = "currently being updated" if pool.state == "incomplete" else "currently invalid"
                what = f"asks for all devices, but resource pool {'/'.join(pool.id)} is {state}"
                raise self._stop(need, what, hint=_say_pool(pool))
            for candidate in pool.candidates:
                if not self._is_selectable(need, pool, candidate):
                    continue
                if self._features.consumable_capacity and not self._has_size(need, candidate):
                    continue
                found.append((pool, candidate))
        return tuple(found)

    def _is_selectable(self, need: Need, pool: Pool, candidate: Candidate) -> bool:
        """Whether class and request select a device, and the device is for this node."""
        if not self._features.binding_conditions and candidate.device.binding_conditions:
            return False
        answer = need.matches.get(candidate)
        if answer is None:
            answer = need.matches[candidate] = self._select(need, candidate)
        if not isinstance(answer, bool):
            raise _StopError(self._selector_error(need, candidate, *answer))
        return answer and candidate not in pool.unreachable

    def _select(self, need: Need, candidate: Candidate) -> bool | tuple[str, str, SelectorProblem]:
        of_class = (f"class {need.device_class.name}: selector", need.device_class.selectors)
        for owner, selectors in (of_class, ("selector", need.request.selectors)):
            for number, text in enumerate(selectors):
                if text is None:  # of a class, whose selectors nobody checked before
                    return (
                        f"{owner} #{number}",
                        "",
                        SelectorProblem(
                            kind="compile", message="CEL expression empty (unsupported selector type?)", hint=""
                        ),
                    )
                answer = self._knowledge.selectors.matches(text, candidate.device)
                if not isinstance(answer, bool):
                    return f"{owner} #{number}", text, answer
                if not answer:
                    return False
        return True

    def _find_attribute(self, need: Need, name: str, candidate: Candidate) -> AttributeOnDevice | None:
        """The attribute that a constraint goes by: what the request derives comes before what is published."""
        text = need.request.derived_attributes.get(name)
        if text is None:
            return find_attribute(candidate.device, name)
        derivation = compile_derived(text)
        if isinstance(derivation, SelectorProblem):
            raise _StopError(self._derived_error(need, f"compile derived attribute {name}", derivation, candidate))
        found = derivation.evaluate(candidate.device)
        if isinstance(found, SelectorProblem):
            what = f"evaluate derived attribute {name} on device {'/'.join(candidate.id)}"
            raise _StopError(self._derived_error(need, what, found, candidate))
        return found

    def _derived_error(self, need: Need, what: str, problem: SelectorProblem, candidate: Candidate) -> AttemptError:
        return AttemptError(
            message=f"{what} failed: {problem.message}", claim=need.claim, device=candidate.id, hint=problem.hint
        )

    def _has_size(self, need: Need, candidate: Candidate) -> bool:
        """Whether a device could serve the request's capacity if nobody else had any of it."""
        if candidate not in need.consumption:
            try:
                need.consumption[candidate] = find_consumed(need.request.capacity, candidate.device, self._features)
            except CapacityError as error:
                need.consumption[candidate] = error
        consumed = need.consumption[candidate]
        if isinstance(consumed, CapacityError):
            message = f"checking capacity for device {'/'.join(candidate.id)}: {consumed}"
            raise self._stop(need, message, candidate.id)
        if consumed is None:
            return False
        if self._features.mended or need.request.mode != ALL:
            return True
        # Until 1.36 a full device was left out of All (kubernetes/kubernetes#140431), so that All could be fewer.
        return has_room(candidate.device, consumed, self._held.consumed(candidate.id) or NO_CAPACITY)

    def _has_capacity(self, need: Need, candidate: Candidate, trial: Trial) -> bool:
        """Whether the device has the request's capacity left."""
        if not self._has_size(need, candidate):
            return False
        consumed = need.consumption[candidate]
        held, taken = self._held.consumed(candidate.id), trial.consumed(candidate.id)
        if not held and not taken:
            return True
        return isinstance(consumed, dict) and has_room(candidate.device, consumed, held or NO_CAPACITY, taken)

    def _stop(self, need: Need, what: str, device: DeviceId | None = None, *, hint: str = "") -> _StopError:
        message = f"claim {self._claims[need.claim].title}, request {need.request.name}: {what}"
        return _StopError(AttemptError(message=message, claim=need.claim, device=device, hint=hint))

    def _selector_error(
        self, need: Need, candidate: Candidate, owner: str, text: str, problem: SelectorProblem
    ) -> AttemptError:
        start = owner if owner.startswith("class") else f"claim {self._claims[need.claim].title}: {owner}"
        on = f" on device {'/'.join(candidate.id)}" if problem.kind == "runtime" else ""
        return AttemptError(
            message=f"{start}{on}: CEL {problem.kind} error: {problem.message}",
            claim=need.claim,
            device=candidate.id,
            selector=text,
            selector_of=owner if owner.startswith("class") else f"request {need.name}, {owner}",
            hint=problem.hint,
        )


def say_classes(names: Iterable[str]) -> str:
    """Those that there are, for a request whose class isn't one of them."""
    known = sorted(names)
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    return f"known: {', '.join(known[:MAX_NAMED])}{more}" if known else "no DeviceClass was given"


def _say_pool(pool: Pool) -> str:
    """What is wrong with a pool that ends an attempt; until 1.37 it does so on every node."""
    if pool.state == "invalid":
        return f"{pool.reason}: nothing of the pool is given until its driver publishes it otherwise"
    return f"{pool.reason}, a moment of this node: ask again once its driver has published the others"


def _say_constraint(candidate: Candidate) -> str:
    return f"cannot add device {'/'.join(candidate.id)} because a claim constraint would not be satisfied"
