"""The published JSON Schema of trust files."""

from __future__ import annotations

from poolwright.specs.schema import Schema, build_model_schema
from poolwright.trust.policy import KIND, TrustPolicy


def trust_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of a trust file.

    What it can't say: names and keys are unique, and no threshold is above the number of keys.
    """
    return build_model_schema(KIND, TrustPolicy)
