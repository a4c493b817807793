"""CEL device selectors evaluated on devices, as a scheduler evaluates them."""

from poolwright.allocation.selectors.cache import SelectorCache
from poolwright.allocation.selectors.derived import Derivation, compile_derived
from poolwright.allocation.selectors.problem import SelectorProblem
from poolwright.allocation.selectors.selector import Selector, compile_selector
from poolwright.allocation.selectors.suggest import suggest

__all__ = [
    "Derivation",
    "Selector",
    "SelectorCache",
    "SelectorProblem",
    "compile_derived",
    "compile_selector",
    "suggest",
]
