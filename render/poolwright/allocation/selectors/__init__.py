"""CEL device selectors evaluated on devices, as a scheduler evaluates them."""

from poolwright.allocation.selectors.cache import SelectorCache
from poolwright.allocation.selectors.selector import Selector, SelectorProblem, compile_selector
from poolwright.allocation.selectors.suggest import suggest

__all__ = ["Selector", "SelectorCache", "SelectorProblem", "compile_selector", "suggest"]
