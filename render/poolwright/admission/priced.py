"""A deployment priced on a device: the answer, and what would change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from poolwright.admission.admit import Admission, Word, admit
from poolwright.admission.architecture import Unsupported
from poolwright.admission.deployment import Deployment
from poolwright.admission.devices import KnownDevice
from poolwright.admission.mends import Mend, find_mends
from poolwright.admission.price import Constants
from poolwright.admission.thresholds import Thresholds, find_thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """What became of a deployment on a device."""

    device: KnownDevice
    deployment: Deployment | None  # None: the formulas don't cover the model, wherever it runs
    constants: Constants
    admission: Admission
    mends: tuple[Mend, ...] = ()
    thresholds: Thresholds | None = None  # of what is admitted
    partitions: Mapping[str, Word | None] = field(default_factory=dict)  # by profile; None: its memory isn't known

    @property
    def tolerated(self) -> tuple[str, ...]:
        """Profiles of partitions that admit it by themselves."""
        return tuple(name for name, word in self.partitions.items() if word == "admitted")

    @property
    def undecided(self) -> tuple[str, ...]:
        """Profiles of partitions of which that can't be said."""
        return tuple(name for name, word in self.partitions.items() if word not in ("admitted", "refused"))


def price_on(
    deployment: Deployment | Unsupported, device: KnownDevice, constants: Constants, *, against: str = ""
) -> Priced:
    """The answer for one device.

    against: why the device isn't taken at all, whatever its memory; empty: it is.
    Cost:    about a hundred prices.
    """
    if against:
        admission = Admission(word="refused", price=None, reason=against)
        built = None if isinstance(deployment, Unsupported) else deployment
        return Priced(device=device, deployment=built, constants=constants, admission=admission)
    if isinstance(deployment, Unsupported):
        admission = Admission(word="unsupported", price=None, reason=deployment.reason)
        return Priced(device=device, deployment=None, constants=constants, admission=admission)
    return Priced(
        device=device,
        deployment=deployment,
        constants=constants,
        admission=admit(deployment, device.memory, constants),
        mends=find_mends(deployment, device.memory, constants),
        thresholds=find_thresholds(deployment, device.memory, constants),
    )
