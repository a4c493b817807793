"""What pods ask for and what they got: ResourceClaims, DeviceClasses and their allocations, as values.

Everything is as the API server of the judged version stores it: its defaults are filled in, and fields whose gate is
off are gone (`gated_fields.py` does both). Names are as written: a `QualifiedName` keeps or lacks its domain.

Source: k8s.io/api resource/v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from poolwright.specs.document import Plain
from poolwright.specs.quantity import Quantity

MAX_RESULTS: Final = 32  # devices that one claim's allocation holds; resource/v1 AllocationResultsMaxSize
EXACT_COUNT: Final = "ExactCount"
ALL: Final = "All"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """A toleration of device taints."""

    key: str = ""  # empty: every key, with Exists
    operator: str = "Equal"  # Equal | Exists
    value: str = ""
    effect: str = ""  # empty: every effect
    seconds: int | None = None  # tolerationSeconds; None: for ever


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Devices of one class: a request of its own, or one of the alternatives of a `firstAvailable`."""

    name: str
    class_name: str
    mode: str = EXACT_COUNT  # ExactCount | All; another text is one that a newer Kubernetes may know
    count: int = 1  # of ExactCount
    selectors: tuple[str | None, ...] = ()  # CEL; None: a selector without any, of a kind that isn't known
    tolerations: tuple[Toleration, ...] = ()
    capacity: Mapping[str, Quantity] | None = None  # capacity.requests, by name as written
    admin_access: bool | None = None  # None: not said, which differs from false where the gate is off
    derived_attributes: Mapping[str, str] = field(default_factory=dict)  # CEL by fully qualified name; alpha in 1.37


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """An entry of a claim's `requests`: exactly one of the two kinds."""

    name: str
    exactly: Request | None = None
    first_available: tuple[Request, ...] = ()  # in order of preference


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What the devices of some requests must have in common, or must not."""

    match_attribute: str | None = None  # fully qualified
    distinct_attribute: str | None = None  # both None: of a kind that isn't known
    requests: tuple[str, ...] = ()  # `request` or `request/subrequest`; empty: all of the claim


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConfig:
    """Configuration that a driver gets with the devices."""

    content: Mapping[str, Plain]  # `opaque` and whatever else stands beside `requests`, as written
    requests: tuple[str, ...] = ()  # of a claim; a class has none


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """A DeviceClass."""

    name: str
    selectors: tuple[str | None, ...] = ()  # as of a request
    config: tuple[DeviceConfig, ...] = ()
    extended_resource_name: str | None = None
    created: str = ""  # RFC 3339; of two classes for one extended resource the newest serves


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedDevice:
    """A device that a claim holds: an entry of `status.allocation.devices.results`."""

    request: str  # `request` or `request/subrequest`
    driver: str
    pool: str
    device: str
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = None  # set: one share of a device that takes several
    consumed_capacity: Mapping[str, Quantity] | None = None  # by name as published
    skip_node_operations: tuple[str, ...] = ()  # alpha in 1.37


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedConfig:
    """An entry of `status.allocation.devices.config`."""

    source: str  # FromClass | FromClaim
    requests: tuple[str, ...]  # empty: all
    content: Mapping[str, Plain]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """A claim's `status.allocation`."""

    devices: tuple[AllocatedDevice, ...] = ()
    config: tuple[AllocatedConfig, ...] = ()
    node_selector: Mapping[str, Plain] | None = None  # v1 NodeSelector; None: usable on every node


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A ResourceClaim."""

    namespace: str
    name: str
    uid: str = ""
    requests: tuple[ClaimRequest, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    config: tuple[DeviceConfig, ...] = ()
    allocation: Allocation | None = None
    reserved_for: tuple[str, ...] = ()  # uids of its users
    owner: str | None = None  # uid of the pod it was made for from a template
    is_deleted: bool = False  # it has a deletionTimestamp

    @property
    def title(self) -> str:
        """`namespace/name`, as upstream writes it in messages."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
