"""The bytes of a model's weights on one rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.admission.architecture import Architecture, Layer, Quantization
from poolwright.admission.excluded import is_excluded, parse_excluded
from poolwright.admission.formats import bytes_per_row, count_bytes, is_quantized
from poolwright.admission.matrices import Matrix, list_matrices, rank_shape

VOCABULARY_STEP: Final = 64  # engines pad it to a multiple
# Experts of mxfp4 are padded for the kernels on both sides. Source: vllm-project/vllm issue 23278, 2880 to 3072.
MXFP4_STEP: Final = 256


def split_layers(count: int, stages: int) -> tuple[int, ...]:
    """How many layers each pipeline stage has: evenly, what is left over on those before the last, from its side on.

    Source: vLLM, distributed/utils.py, get_pp_indices.
    """
    layers = [count // stages] * stages
    for number in range(count % stages):
        layers[-2 - number if stages > number + 1 else -1] += 1
    return tuple(layers)


def count_weights(
    architecture: Architecture, quantization: Quantization | None, *, tensor_parallel: int, stages: int, stage: int
) -> int:
    """Bytes of one rank of a stage.

    quantization: of the linear layers; None: they are in the architecture's dtype.
    stage:        from 0; the first has the embeddings, the last the head.
    """
    counts = split_layers(len(architecture.layers), stages)
    first = sum(counts[:stage])
    own = architecture.layers[first : first + counts[stage]]
    total = sum(_count_layers(architecture, quantization, own, first, tensor_parallel))
    embedding = _pad(architecture.vocabulary, VOCABULARY_STEP) // tensor_parallel * architecture.hidden
    is_first, is_last = stage == 0, stage == stages - 1
    plain = embedding + architecture.vision_parameters if is_first else 0
    if is_last:
        plain += architecture.hidden + (0 if architecture.is_tied and is_first else embedding)
    return total + count_bytes(architecture.dtype, plain, 1)


def _count_layers(
    architecture: Architecture,
    quantization: Quantization | None,
    layers: Sequence[Layer],
    first: int,
    tensor_parallel: int,
) -> Iterator[int]:
    """Layers that are alike, and of which the same is kept, are counted once."""
    known: dict[tuple[Layer, frozenset[str]], int] = {}
    excluded = parse_excluded(() if quantization is None else quantization.excluded)
    for number, layer in enumerate(layers, first):
        names = excluded.pick(number)
        if (layer, names) not in known:
            known[layer, names] = _count_layer(architecture, quantization, layer, names, tensor_parallel)
        yield known[layer, names]


def _count_layer(
    architecture: Architecture,
    quantization: Quantization | None,
    layer: Layer,
    excluded: frozenset[str],
    tensor_parallel: int,
) -> int:
    total, plain = 0, 2 * architecture.hidden  # norms
    for one in list_matrices(architecture, layer):
        inputs, outputs = rank_shape(one, tensor_parallel)
        plain += one.count * outputs if one.has_bias else 0
        if quantization is None or not _is_quantized(quantization, one, excluded):
            plain += one.count * inputs * outputs
            continue
        if quantization.format == "mxfp4" and one.is_expert:
            inputs, outputs = _pad(inputs, MXFP4_STEP), _pad(outputs, MXFP4_STEP)
        total += count_bytes(quantization.format, one.count * inputs * outputs, quantization.group)
        total += one.count * outputs * bytes_per_row(quantization.format)
    return total + count_bytes(architecture.dtype, plain, 1)


def _is_quantized(quantization: Quantization, one: Matrix, excluded: frozenset[str]) -> bool:
    if not one.is_linear or not is_quantized(quantization.format) or (quantization.experts_only and not one.is_expert):
        return False
    return not is_excluded(excluded, one.name)


def _pad(number: int, step: int) -> int:
    return -(-number // step) * step
