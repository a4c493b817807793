"""Which linear layers a checkpoint keeps as they are, by the names that its config lists.

Checkpoints of one architecture call their modules differently: a decoder may stand in `model`, or beside a vision tower
in `model.language_model`, and experts in `block_sparse_moe`. A name that nobody knows here isn't passed over: what it
keeps would be priced as quantised, and so too low.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase, translate
from typing import Final

import msgspec

from poolwright.admission.architecture import Architecture
from poolwright.admission.matrices import list_matrices

# Compiled where they are used: most checkpoints list nothing.
_LAYER: Final = r"(?P<before>.*?)layers\.(?P<numbers>[0-9*?]+)(?:\.(?P<tail>.+))?"
_DECODERS: Final = frozenset(
    (
        *("", "*", "*.", "*model.", "model.", "backbone."),
        *("language_model.", "model.language_model.", "language_model.model."),
    )
)
# What is never quantised, or isn't part of the decoder's layers, by a part of the name.
_OTHERS: Final = (
    r"(.*norm\d?|embed.*|.*head|.*router|.*bias|.*gate|conv1d|in_proj_(a|b|ba)|"
    r"mtp|visual|vision.*|.*projector|audio.*)\*?"
)
# A module's name in this package, and in checkpoints.
_ALIASES: Final = (
    ("mlp.", "block_sparse_moe."),
    ("mlp.", "feed_forward."),
    ("mlp.", "mixer."),
    ("self_attn.", "mixer."),
    ("shared_experts.", "shared_expert."),
)


class Excluded(msgspec.Struct, frozen=True, kw_only=True):
    """Names of modules, by the layers that they are for."""

    of_layer: Mapping[int, frozenset[str]]
    of_layers: tuple[tuple[str, str], ...]  # a pattern of numbers, and the name

    def pick(self, number: int) -> frozenset[str]:
        """What is named of one layer, without the layer."""
        text = str(number)
        found = (name for numbers, name in self.of_layers if fnmatchcase(text, numbers))
        return self.of_layer.get(number, frozenset()).union(found)


def parse_excluded(names: Sequence[str]) -> Excluded:
    """The names of a config: as they are, with `*` for anything, or a word that is a part of them."""
    of_layer: dict[int, set[str]] = {}
    of_layers: list[tuple[str, str]] = []
    for name in names:
        numbers, tail = _split(name)
        if numbers.isdecimal():
            of_layer.setdefault(int(numbers), set()).add(tail)
        else:
            of_layers.append((numbers, tail))
    return Excluded(
        of_layer={number: frozenset(tails) for number, tails in of_layer.items()},
        of_layers=tuple(dict.fromkeys(of_layers)),
    )


def is_excluded(tails: Iterable[str], module: str) -> bool:
    """Whether names of one layer have a module, or what it stands in, among them."""
    return any(_covers(tail, called) for called in _list_called(module) for tail in tails)


def find_unknown(architecture: Architecture, names: Sequence[str]) -> str | None:
    """The first name that is nothing of the model's."""
    layers = dict.fromkeys(architecture.layers)
    modules = {one.name for layer in layers for one in list_matrices(architecture, layer)}
    called = sorted({name for module in modules for name in _list_called(module)})
    known: dict[str, bool] = {}
    for name in names:
        tail = _split(name)[1]
        if tail not in known:
            known[tail] = _is_other(name) or _is_known(tail, called)
        if not known[tail]:
            return name
    return None


def _split(name: str) -> tuple[str, str]:
    """The numbers of the layers that a name is for, as a pattern, and the name in them."""
    found = re.fullmatch(_LAYER, name)
    if found is not None and found["before"] in _DECODERS:
        return found["numbers"], found["tail"] or "*"
    return "*", name.removeprefix("*.")


def _is_other(name: str) -> bool:
    return any(re.fullmatch(_OTHERS, part) is not None for part in name.split("."))


def _is_known(tail: str, called: Sequence[str]) -> bool:
    if "*" not in tail:
        return any(_covers(tail, one) for one in called)
    pattern = re.compile(translate(tail))
    return any(pattern.match(one) or pattern.match(f"{one}.") for one in called)


def _list_called(module: str) -> Iterator[str]:
    names = {module}
    for ours, theirs in _ALIASES:
        names |= {name.replace(ours, theirs) for name in names}
    return iter(sorted(names))


def _covers(tail: str, name: str) -> bool:
    """Whether a name is the module, or what it stands in. A word alone is a part of it."""
    if "." not in tail and "*" not in tail:
        return tail in name.split(".")
    return name == tail or name.startswith(f"{tail}.") or fnmatchcase(name, tail) or fnmatchcase(name, f"{tail}.*")
