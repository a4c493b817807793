"""A checked selector as something that runs, and what one run costs.

Nodes become closures, each of which takes a Frame and gives a value. Costs are counted as cel-go counts them, so the
closures follow how it plans an expression: constant parts are worked out once and free, and selections are chains.

Source: cel-go v0.29 interpreter (planner.go, decorators.go, interpretable.go, runtimecost.go).
"""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.allocation.selectors.attributes import (
    Chain,
    Choice,
    Run,
    Step,
    add_step,
    build_resolver,
)
from poolwright.allocation.selectors.calls import (
    build_and,
    build_call,
    build_equality,
    build_membership,
    build_or,
    build_or_value,
)
from poolwright.allocation.selectors.folds import build_fold
from poolwright.allocation.selectors.literals import build_list, build_map
from poolwright.allocation.selectors.planned import Planned
from poolwright.allocation.selectors.values import (
    COST_EXCEEDED,
    COST_LIMIT,
    LISTS,
    MISSING,
    TYPE_NAMES,
    CelMap,
    CelType,
    EvaluationAbortedError,
    Failure,
    Optional,
    SharedList,
    Uint,
    Value,
)
from poolwright.catalog.cel import Call, Comprehension, Const, Expr, Ident, ListExpr, MapExpr, Select
from poolwright.catalog.cel.expression import find_children

_INDICES = {"_[_]": False, "_[?_]": True, "_?._": True}
_DEVICE = {"driver": 0, "allowMultipleAllocations": 1, "attributes": 2, "capacity": 3}
_FOLDED = ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")


class PlanError(Exception):
    """A part that can only fail, which upstream finds out before it evaluates anything."""


class Frame:
    """The variables and the cost of one run."""

    __slots__ = ("cost", "device", "slots")

    def __init__(self, device: tuple[Value, ...], slot_count: int) -> None:
        self.device = device  # driver, allowMultipleAllocations, attributes, capacity
        self.slots: list[Value] = [MISSING] * slot_count
        self.cost = 0

    def spend(self, cost: int) -> None:
        """Charge for a part; raises EvaluationAbortedError beyond the limit."""
        self.cost += cost
        if self.cost > COST_LIMIT:
            raise EvaluationAbortedError(COST_EXCEEDED)


class Program:
    """A selector ready to run. Raises: PlanError."""

    def __init__(self, root: Expr) -> None:
        planner = _Planner()
        self._run = planner.plan(root, {}).run
        self._slot_count = planner.slot_count

    def run(self, device: tuple[Value, ...]) -> tuple[Value, int]:
        """The value (a Failure for a runtime error) and its cost.

        device: driver, allowMultipleAllocations, attributes and capacity as CEL's values.
        """
        frame = Frame(device, self._slot_count)
        try:
            return self._run(frame), frame.cost
        except EvaluationAbortedError as aborted:
            return Failure(str(aborted)), frame.cost


_Scope = dict[str, Run]  # the variables of the folds around, by name


class _Planner:
    def __init__(self) -> None:
        self.slot_count = 0

    def plan(self, expr: Expr, scope: _Scope) -> Planned:
        match expr:
            case Const(kind="uint", value=int(number)):
                return Planned.of_constant(Uint(number))
            case Const():
                return Planned.of_constant(expr.value)
            case Ident():
                return self._plan_name(expr.name, scope)
            case Select():
                return self._plan_select(expr, scope)
            case Call():
                return self._plan_call(expr, scope)
            case ListExpr():
                return build_list([self.plan(part, scope) for part in expr.elements], frozenset(expr.optional))
            case MapExpr():
                return build_map(
                    [
                        (self.plan(entry.key, scope), self.plan(entry.value, scope), entry.optional)
                        for entry in expr.entries
                    ]
                )
            case Comprehension():
                return self._plan_fold(expr, scope)

    def _plan_name(self, name: str, scope: _Scope) -> Planned:
        if name in scope:
            return _plan_attribute(Chain(start=scope[name]))
        plain = name.removeprefix(".")
        head, _, field = plain.partition(".")
        if head == "device" and field in _DEVICE:
            at = _DEVICE[field]

            def read(frame: Frame) -> Value:
                frame.spend(1)  # the selection from `device`
                return frame.device[at]

            return _plan_attribute(Chain(start=read))
        return Planned.of_constant(CelType(plain))

    def _plan_select(self, expr: Select, scope: _Scope) -> Planned:
        step = Step(key=expr.field, is_test=expr.test_only)
        attribute = add_step(_to_attribute(self.plan(expr.operand, scope)), step)
        return _plan_test(attribute) if expr.test_only else _plan_attribute(attribute)

    def _plan_call(self, call: Call, scope: _Scope) -> Planned:
        arguments = call.args if call.target is None else (call.target, *call.args)
        planned = [self.plan(argument, scope) for argument in arguments]
        function = call.function
        if function in _INDICES:
            return self._plan_index(planned[0], planned[1], _INDICES[function])
        match function:
            case "_&&_":
                return Planned(build_and([part.run for part in planned]))
            case "_||_":
                return Planned(build_or([part.run for part in planned]))
            case "_?_:_":
                condition, yes, no = planned
                # A chain in a branch isn't charged for itself.
                choice = Choice(condition=condition.run, yes=_to_attribute(yes), no=_to_attribute(no))
                return _plan_attribute(choice)
            case "_==_" | "_!=_":
                return Planned(build_equality(planned[0].run, planned[1].run, is_negated=function == "_!=_"))
            case "or" | "orValue":
                return Planned(build_or_value(planned[0].run, planned[1].run, unwraps=function == "orValue"))
        if function == "@in" and call.overloads == ("in_list",):
            found = build_membership(planned[0], planned[1])
            if found is not None:
                return found
        run = build_call(function, call.overloads, planned)
        if function in _FOLDED and len(planned) == 1 and planned[0].is_constant:
            value = run(Frame((), 0))
            if isinstance(value, Failure):
                raise PlanError(value.message)
            return Planned.of_constant(value)
        return Planned(run)

    def _plan_index(self, operand: Planned, key: Planned, is_optional: bool) -> Planned:
        if key.is_constant:
            if not isinstance(key.constant, (str, int, float)):
                raise PlanError("invalid qualifier type")
            step = Step(key=key.constant, is_optional=is_optional)
        else:
            # A chain as a key is charged for its steps, not for itself.
            compute = key.run if key.attribute is None else build_resolver(key.attribute)
            step = Step(compute=compute, is_optional=is_optional)
        return _plan_attribute(add_step(_to_attribute(operand), step))

    def _plan_fold(self, fold: Comprehension, scope: _Scope) -> Planned:
        for variable, value in ((fold.accu_var, fold.accu_init), *_find_elements(fold)):
            if _is_type(value) and _uses(fold, variable):
                raise PlanError(f"reference to undefined type: {variable}")
        first = self.slot_count
        self.slot_count += 3
        # Upstream works the accumulator out when it is first asked for.
        init = self.plan(fold.accu_init, scope).run
        with_accu = {**scope, fold.accu_var: _read_lazily(first, init)}
        within = {**with_accu, fold.iter_var: _read_slot(first + 1)}
        if fold.iter_var2:
            within[fold.iter_var2] = _read_slot(first + 2)
        return Planned(
            build_fold(
                slot=first,
                has_two=bool(fold.iter_var2),
                values=self.plan(fold.iter_range, scope).run,
                condition=self.plan(fold.condition, within).run,
                step=self.plan(fold.step, within).run,
                result=self.plan(fold.result, with_accu).run,
            )
        )


def _find_elements(fold: Comprehension) -> Iterator[tuple[str, Expr]]:
    """What the variable of a fold over a literal stands for."""
    variable = fold.iter_var2 or fold.iter_var
    if isinstance(fold.iter_range, ListExpr):
        yield from ((variable, element) for element in fold.iter_range.elements)


def _is_type(expr: Expr) -> bool:
    """Whether the checker sees a type here. Upstream takes a variable of such a type for the name of one."""
    match expr:
        case Call(function="type"):
            return True
        case Ident(name=name):
            return name.removeprefix(".") in TYPE_NAMES.values()
    return False


def _uses(expr: Expr, name: str) -> bool:
    if isinstance(expr, Ident):
        return expr.name == name
    return any(_uses(child, name) for child in find_children(expr))


def _to_attribute(planned: Planned) -> Chain | Choice:
    return planned.attribute if planned.attribute is not None else Chain(start=planned.run)


def _plan_attribute(attribute: Chain | Choice) -> Planned:
    resolve = build_resolver(attribute)
    if isinstance(attribute, Choice):
        return Planned(resolve, attribute=attribute)

    def run(frame: Frame) -> Value:
        value = resolve(frame)
        frame.spend(1)
        return value

    return Planned(run, attribute=attribute)


def _plan_test(attribute: Chain | Choice) -> Planned:
    resolve = build_resolver(attribute)

    def run(frame: Frame) -> Value:
        value = resolve(frame)
        return value.has_value if isinstance(value, Optional) else value

    return Planned(run, attribute=attribute)


def _read_slot(at: int) -> Run:
    return lambda frame: frame.slots[at]


def _read_lazily(at: int, init: Run) -> Run:
    def read(frame: Frame) -> Value:
        value = frame.slots[at]
        if value is MISSING:
            value = frame.slots[at] = _share(init(frame))
        return value

    return read


def _share(value: Value) -> Value:
    """An empty list or map that a fold starts with is its own, and added to in place."""
    if isinstance(value, LISTS) and not value:
        return SharedList()
    if isinstance(value, CelMap) and not len(value):
        shared = CelMap()
        shared.is_shared = True
        return shared
    return value
