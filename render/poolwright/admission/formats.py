"""Number formats of weights: how many bytes an element takes, with its scales."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal

from poolwright.admission.architecture import WeightFormat

CacheFormat = Literal["float32", "bfloat16", "float16", "fp8"]

CACHE_BYTES: Final[dict[CacheFormat, int]] = {"float32": 4, "bfloat16": 2, "float16": 2, "fp8": 1}
_PLAIN: Final[dict[WeightFormat, int]] = {"float32": 4, "bfloat16": 2, "float16": 2, "fp8": 1, "int8": 1}


def is_quantized(name: WeightFormat) -> bool:
    """Whether it is for linear layers alone: embeddings, head, norms and routers stay as they are."""
    return name not in ("float32", "bfloat16", "float16")


def bytes_per_element(name: WeightFormat, group: int) -> Fraction:
    """Bytes of one element of a linear layer, its share of scales and zero points among them; those by row aside.

    group: elements that share a scale, of the formats that have groups.
    Source: the formats' own definitions: OCP Microscaling 1.0 (mxfp4), compressed-tensors, AutoAWQ, NVIDIA ModelOpt
    (nvfp4), bitsandbytes (nf4: blocks of 64, double quantisation), DeepSeek-V3 (blocks of 128 x 128).
    """
    match name:
        case "fp8Block128":
            return 1 + Fraction(4, 128 * 128)
        case "int4":
            return Fraction(1, 2) + Fraction(2, group)
        case "int4ZeroPoint":
            return Fraction(1, 2) + Fraction(5, 2 * group)
        case "nf4":
            return Fraction(53, 100)
        case "mxfp4":
            return Fraction(1, 2) + Fraction(1, 32)
        case "nvfp4":
            return Fraction(1, 2) + Fraction(1, 16)
        case _:
            return Fraction(_PLAIN[name])


def bytes_per_row(name: WeightFormat) -> int:
    """Bytes of the scale that each output of a linear layer has of its own."""
    return 4 if name in ("fp8", "int8") else 0
