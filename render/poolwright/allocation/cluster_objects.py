"""The objects that decide on an allocation, each with the place it was read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from poolwright.allocation.claim import Claim, ClaimRequest, Constraint, DeviceClass, DeviceConfig
from poolwright.allocation.pod import Pod, Workload
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice, Taint
from poolwright.specs.finding import Finding
from poolwright.specs.place import FieldPath, Place

Value = TypeVar("Value")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Generic[Value]):
    """A value, and where it and its fields stand."""

    value: Value
    locate: Callable[[FieldPath], Place] = field(compare=False, repr=False)  # from the object's root

    @property
    def place(self) -> Place:
        """Where the object stands."""
        return self.locate(())

    def having(self, value: Other) -> Placed[Other]:
        """Another value that stands for the same object."""
        return Placed(value=value, locate=self.locate)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTemplate:
    """A ResourceClaimTemplate."""

    namespace: str
    name: str
    requests: tuple[ClaimRequest, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    config: tuple[DeviceConfig, ...] = ()

    @property
    def title(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def build_claim(self, name: str, *, uid: str = "", owner: str | None = None) -> Claim:
        """The claim that is made from it for a pod.

        owner: uid of the pod.
        """
        return Claim(
            namespace=self.namespace,
            name=name,
            uid=uid,
            requests=self.requests,
            constraints=self.constraints,
            config=self.config,
            owner=owner,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintRule:
    """A DeviceTaintRule: a taint for devices that a driver didn't taint itself."""

    name: str
    taint: Taint
    has_selector: bool = True  # False: no `deviceSelector`, which releases read in different ways
    driver: str | None = None  # None, of all three: any
    pool: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A Namespace."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterObjects:
    """Objects of one cluster, of each kind in the order they were given; no two of one name."""

    nodes: tuple[Placed[Node], ...] = ()
    slices: tuple[Placed[ResourceSlice], ...] = ()
    classes: tuple[Placed[DeviceClass], ...] = ()
    claims: tuple[Placed[Claim], ...] = ()
    templates: tuple[Placed[ClaimTemplate], ...] = ()
    pods: tuple[Placed[Pod], ...] = ()
    workloads: tuple[Placed[Workload], ...] = ()
    taint_rules: tuple[Placed[TaintRule], ...] = ()
    namespaces: tuple[Placed[Namespace], ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict)  # objects of kinds that decide nothing here, by kind
    notes: tuple[Finding, ...] = ()  # what was assumed or passed over while reading
