"""Objects without what says who they are and where they come from: labels and annotations, those of alerts too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from poolwright.objects.kubernetes import Object

_ASIDE: Final = ("labels", "annotations")


def strip_labels(objects: Iterable[Object]) -> list[Any]:
    """The objects, their pods' templates and their alerting rules without labels and annotations; selectors stay."""
    return [_strip(one) for one in objects]


def _strip(value: Any) -> Any:
    if isinstance(value, dict):
        if "alert" in value and "expr" in value:  # a rule of Prometheus: what an alert is called and says
            value = _strip_metadata(value)
        return {
            key: _strip_metadata(part) if key == "metadata" and isinstance(part, dict) else _strip(part)
            for key, part in value.items()
        }
    return [_strip(part) for part in value] if isinstance(value, list | tuple) else value


def _strip_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in metadata.items() if key not in _ASIDE}
