"""The statement about a pod's devices that an init container makes: that they are as close as its claim asks for.

The scheduler chose them by what their drivers publish; this looks at what the kernel says on the node. It stands only
where the claim has such a constraint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.catalog.dialect import STATEMENT_CONTAINER
from poolwright.objects.claim import POD_CLAIM
from poolwright.objects.kubernetes import Object
from poolwright.specs.envelope import EnvelopeSpec

# The attributes that /sys shows too, whatever the driver; both are standard ones.
_DOMAIN: Final = "resource.kubernetes.io"
_SHOWN: Final = ("pcieRoot", "numaNode")


def build_statement(envelope: EnvelopeClosure, image: str) -> list[Object]:
    """The init container, if the claim has a constraint that /sys can show; else none.

    image: the serving image: it is on the node anyway, and has a shell.
    """
    statements = list(list_statements(envelope.spec))
    if not statements:
        return []
    from poolwright.objects.topology_script import SCRIPT  # few claims have a constraint

    return [
        {
            "name": STATEMENT_CONTAINER,
            "image": image,
            "command": ["sh", "-c"],
            "args": [SCRIPT, STATEMENT_CONTAINER, *statements],
            "resources": {"claims": [{"name": POD_CLAIM}]},
            "terminationMessagePolicy": "FallbackToLogsOnError",  # so that the pod's status says what differs
        }
    ]


def list_statements(spec: EnvelopeSpec) -> Iterator[str]:
    """The script's arguments: `same:ATTRIBUTE` of all accelerators; `each:ATTRIBUTE:N` of each and its N companions."""
    same = {_shown(constraint.match_attribute) for constraint in spec.claim.constraints}
    beside: dict[str, int] = {}
    for request in spec.claim.extra_requests:
        attribute = _shown(request.match_attribute)
        if attribute and request.per_device:
            beside[attribute] = beside.get(attribute, 0) + request.per_device
    yield from (f"same:{attribute}" for attribute in _SHOWN if attribute in same)
    yield from (f"each:{attribute}:{beside[attribute]}" for attribute in _SHOWN if attribute in beside)


def _shown(attribute: str | None) -> str | None:
    domain, _, name = (attribute or "").partition("/")
    return name if domain == _DOMAIN and name in _SHOWN else None
