"""What a config says of how a checkpoint is quantised: the format of the linear layers, and which ones aren't in it."""

from __future__ import annotations

import re
from typing import Final

from poolwright.admission.architecture import Quantization, WeightFormat
from poolwright.admission.config_fields import ConfigFields, NotCoveredError

MAX_EXCLUDED: Final = 4096  # names of what isn't quantised


def build_quantization(config: ConfigFields) -> Quantization:
    """The format that the linear layers are in."""
    method = config.text("quant_method")
    excluded = tuple(
        _read_pattern(one)
        for name in ("modules_to_not_convert", "ignore", "ignored_layers")
        for one in config.texts(name)
    )
    if len(excluded) > MAX_EXCLUDED:
        raise NotCoveredError(f"it has more than {MAX_EXCLUDED} names of what isn't quantised")
    if method == "fp8":
        return Quantization(format="fp8Block128" if config.has("weight_block_size") else "fp8", excluded=excluded)
    if method == "mxfp4":
        return Quantization(format="mxfp4", group=32, experts_only=True, excluded=excluded)
    if method == "fbgemm_fp8":
        return Quantization(format="fp8", excluded=excluded)
    if method in ("gptq", "awq"):
        if config.number("bits", 4) not in (4, 8):
            raise NotCoveredError(f"{method} of {config.number('bits')} bits")
        if config.number("bits", 4) == 8:
            return Quantization(format="int8", excluded=excluded)
        name: WeightFormat = "int4ZeroPoint" if method == "awq" else "int4"
        return Quantization(format=name, group=config.number("group_size", 128), excluded=excluded)
    if method == "compressed-tensors":
        return _build_compressed(config, excluded)
    if method == "modelopt" and config.text("quant_algo") == "FP8":
        return Quantization(format="fp8", excluded=excluded)
    if method == "modelopt" and config.text("quant_algo") == "NVFP4":
        return Quantization(format="nvfp4", group=16, excluded=excluded)
    raise NotCoveredError(f"quant_method {method or 'that has no name'}")


def _build_compressed(config: ConfigFields, excluded: tuple[str, ...]) -> Quantization:
    groups = config.inner("config_groups")
    if groups is None:
        if "format" in config.fields or "sparsity_config" in config.fields:  # a pruned one has whole weights
            raise NotCoveredError("it doesn't say which layers are quantised, and how")
        return Quantization(format="fp8", excluded=(*excluded, "lm_head"))
    if len(groups.fields) != 1:
        raise NotCoveredError("several groups of layers are quantised each in its own way")
    (name,) = groups.fields
    group = groups.inner(name)
    weights = None if group is None else group.inner("weights")
    if group is None or weights is None or group.texts("targets") != ("Linear",):
        raise NotCoveredError("the quantised layers are named one by one")
    bits, kind = weights.number("num_bits"), weights.text("type")
    if bits == 8:
        floating: WeightFormat = "fp8Block128" if weights.has("block_structure") else "fp8"
        return Quantization(format=floating if kind == "float" else "int8", excluded=excluded)
    if bits == 4 and kind == "int":
        return Quantization(format="int4", group=weights.number("group_size", 128), excluded=excluded)
    if bits == 4 and kind == "float" and weights.number("group_size", 0, least=0) == 16:
        return Quantization(format="nvfp4", group=16, excluded=excluded)
    raise NotCoveredError(f"weights of {bits} bits of the type {kind or 'that has no name'}")


def _read_pattern(text: str) -> str:
    """A module's name with `*` for anything. Patterns of expressions are read as far as they are `.*` and names."""
    if not text.startswith("re:"):
        return text
    plain = text[3:].removeprefix("^").removesuffix("$").replace(r"\.", ".").replace(".*", "*")
    if re.fullmatch(r"[A-Za-z0-9_.*]+", plain) is None:
        raise NotCoveredError("an expression says which layers aren't quantised")
    return plain
