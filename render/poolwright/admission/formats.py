"""Number formats of weights: how many bytes an element takes, with its scales."""

from __future__ import annotations

from typing import Final, Literal

from poolwright.admission.architecture import WeightFormat

CacheFormat = Literal["float32", "bfloat16", "float16", "fp8"]

CACHE_BYTES: Final[dict[CacheFormat, int]] = {"float32": 4, "bfloat16": 2, "float16": 2, "fp8": 1}
_PLAIN: Final[dict[WeightFormat, int]] = {"float32": 4, "bfloat16": 2, "float16": 2, "fp8": 1, "int8": 1}


def is_quantized(name: WeightFormat) -> bool:
    """Whether it is for linear layers alone: embeddings, head, norms and routers stay as they are."""
    return name not in ("float32", "bfloat16", "float16")


def count_bytes(name: WeightFormat, elements: int, group: int) -> int:
    """Bytes of the elements of a linear layer, with their scales and zero points; those by row aside. Rounded up.

    group: elements that share a scale, of the formats that have groups.
    Source: the formats' own definitions: OCP Microscaling 1.0 (mxfp4), compressed-tensors, AutoAWQ, NVIDIA ModelOpt
    (nvfp4), bitsandbytes (nf4: blocks of 64, double quantisation), DeepSeek-V3 (blocks of 128 x 128).
    """
    match name:
        case "fp8Block128":
            return elements + _ceil(4 * elements, 128 * 128)
        case "int4":
            return _ceil((group + 4) * elements, 2 * group)
        case "int4ZeroPoint":
            return _ceil((group + 5) * elements, 2 * group)
        case "nf4":
            return _ceil(53 * elements, 100)
        case "mxfp4":
            return _ceil(17 * elements, 32)
        case "nvfp4":
            return _ceil(9 * elements, 16)
        case _:
            return _PLAIN[name] * elements


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def bytes_per_row(name: WeightFormat) -> int:
    """Bytes of the scale that each output of a linear layer has of its own."""
    return 4 if name in ("fp8", "int8") else 0
