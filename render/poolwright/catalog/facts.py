"""Facts that specs rest on but nobody writes in a spec: one value, read from JSON tables, each row with its source."""

# Annotations are evaluated here: as texts, msgspec would evaluate each of them again for every row type.
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar, cast

import msgspec

from poolwright.specs.envelope import ComputeClass

if TYPE_CHECKING:  # rows that `generate` doesn't need: defining their types costs more than all else it does with facts
    from poolwright.catalog.tables.driver_settings import DriverSettingFact, HelmValueFact
    from poolwright.catalog.tables.engine_memory import EngineMemoryFact
    from poolwright.catalog.tables.engines import EngineArgumentFact, EngineFact, MetricFact
    from poolwright.catalog.tables.hardware import HardwareFact, MigProfileFact
    from poolwright.catalog.tables.kubernetes import KubernetesGateFact, ServedApiFact
    from poolwright.catalog.tables.nvidia import GateNeedFact, GateReleaseFact, GateRuleFact, NvidiaGateFact
    from poolwright.catalog.tables.operator import (
        ComponentFact,
        DriverReleaseFact,
        GpuDriverFact,
        MinimumFact,
        OperatorLineFact,
        OperatorReleaseFact,
    )
    from poolwright.catalog.tables.pins import ChartCrdFact, ReleaseFact, TrapFact
    from poolwright.catalog.tables.published import CapacityFact, DeviceTypeFact

FACT_TABLES: Final = (
    *("kubernetes", "kubernetes-gates", "served-apis"),
    *("nvidia-gates", "nvidia-gate-releases", "nvidia-gate-rules", "nvidia-gate-needs"),
    *("hardware", "mig-profiles", "compute-classes"),
    *("device-types", "device-attributes", "device-capacities"),
    *("operator-lines", "operator-releases", "operator-components", "operator-gpu-drivers"),
    *("driver-releases", "driver-minimums", "driver-settings", "helm-values"),
    *("releases", "chart-crds", "known-traps"),
    *("engines", "engine-arguments", "engine-memory", "metrics"),
)
FACT_FILES: Final = tuple(f"{name}.json" for name in FACT_TABLES)


class Disagreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What another source says of a field of a row; neither is preferred here."""

    field: str  # camelCase, as in the table
    value: str
    source: str


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """A row of a table: what it rests on. A field that is None wasn't found, or doesn't apply; nothing is guessed."""

    source: str
    date: str  # the day whose state of the source was read, YYYY-MM-DD
    verified: bool  # whether the source itself was read, and not somebody's account of it
    disagreements: tuple[Disagreement, ...] = ()
    note: str | None = None


class KubernetesFact(Fact, frozen=True, kw_only=True):
    """A minor release of Kubernetes that is known here."""

    minor: str
    resource_api: str  # the newest version of resource.k8s.io that it serves by default


class ComputeClassFact(Fact, frozen=True, kw_only=True):
    """From which version of an attribute on a driver's devices have native arithmetic of a class."""

    driver: str
    compute_class: ComputeClass
    attribute: str  # of the driver's own domain, of type version
    minimum: str  # semantic version


class AttributeFact(Fact, frozen=True, kw_only=True):
    """An attribute that a driver publishes on a type of device; driver and type `*`: a standard one of any driver."""

    driver: str
    device_type: str  # an id of device-types
    domain: str
    name: str
    type: Literal["string", "int", "bool", "version"]
    stable: bool  # False: it names one device, or moves with restarts; no policy may rest on it
    presence: Literal["always", "optional", "gated"]
    gate: str | None = None  # of the driver; gated: without it the attribute is absent
    list_gate: str | None = None  # of the driver; with it the value is a list of one
    since: str | None = None  # the first release of the driver
    until: str | None = None  # the last one

    def published_by(self, release: str) -> bool:
        """Whether this release of the NVIDIA driver publishes it, gates aside."""
        from poolwright.catalog.tables.driver_release import is_within  # only planned devices ask

        return is_within(release, self.since, self.until)


F = TypeVar("F", bound=Fact)


class _Table(msgspec.Struct, Generic[F], frozen=True, forbid_unknown_fields=True):
    facts: tuple[F, ...]


class Facts:
    """All tables. Each is decoded the first time it is asked for, so that a command pays for those it uses.

    Rows stand in the order of their table. Raises msgspec.DecodeError: the tables ship with the tool, so a broken one
    is our own fault. What a team adds is checked before it comes here (`own_facts`).
    """

    def __init__(self, files: Mapping[str, bytes], own: Mapping[str, frozenset[int]] | None = None) -> None:
        self._files = files
        self._own = own or {}

    def table(self, name: str) -> tuple[Fact, ...]:
        """The rows of a table of FACT_TABLES."""
        return cast("tuple[Fact, ...]", getattr(self, name.replace("-", "_")))

    @property
    def texts(self) -> Mapping[str, bytes]:
        """The tables as they are encoded: equal for facts that say the same."""
        return self._files

    def own_rows(self, table: str) -> frozenset[int]:
        """Which rows of a table a team added or overrode, by their place in it."""
        return self._own.get(table, frozenset())

    def list_own_sources(self) -> frozenset[str]:
        """What those rows rest on."""
        return frozenset(self.table(name)[at].source for name, places in self._own.items() for at in places)

    def with_rows(self, table: str, rows: Sequence[Fact], own: frozenset[int] = frozenset()) -> "Facts":
        """The same facts with other rows in one table.

        own: the places of those that are a team's.
        """
        files = {**self._files, f"{table}.json": msgspec.json.encode({"facts": rows})}
        return Facts(files, {**self._own, table: own})

    @cached_property
    def kubernetes(self) -> tuple[KubernetesFact, ...]:
        """Releases of Kubernetes that are rendered for."""
        return self._decode("kubernetes", _Table[KubernetesFact])

    @cached_property
    def compute_classes(self) -> tuple[ComputeClassFact, ...]:
        """How devices show native arithmetic."""
        return self._decode("compute-classes", _Table[ComputeClassFact])

    @cached_property
    def device_attributes(self) -> tuple[AttributeFact, ...]:
        """What devices publish to select on."""
        return self._decode("device-attributes", _Table[AttributeFact])

    @cached_property
    def kubernetes_gates(self) -> "tuple[KubernetesGateFact, ...]":
        """Feature gates of Kubernetes that DRA rests on."""
        from poolwright.catalog.tables.kubernetes import KubernetesGateFact

        return self._decode("kubernetes-gates", _Table[KubernetesGateFact])

    @cached_property
    def served_apis(self) -> "tuple[ServedApiFact, ...]":
        """Versions of the kinds that are rendered or read."""
        from poolwright.catalog.tables.kubernetes import ServedApiFact

        return self._decode("served-apis", _Table[ServedApiFact])

    @cached_property
    def nvidia_gates(self) -> "tuple[NvidiaGateFact, ...]":
        """Feature gates of the NVIDIA driver."""
        from poolwright.catalog.tables.nvidia import NvidiaGateFact

        return self._decode("nvidia-gates", _Table[NvidiaGateFact])

    @cached_property
    def nvidia_gate_releases(self) -> "tuple[GateReleaseFact, ...]":
        """Their stage and default by release of the driver."""
        from poolwright.catalog.tables.nvidia import GateReleaseFact

        return self._decode("nvidia-gate-releases", _Table[GateReleaseFact])

    @cached_property
    def nvidia_gate_rules(self) -> "tuple[GateRuleFact, ...]":
        """Which of them, and which settings, exclude or need each other."""
        from poolwright.catalog.tables.nvidia import GateRuleFact

        return self._decode("nvidia-gate-rules", _Table[GateRuleFact])

    @cached_property
    def nvidia_gate_needs(self) -> "tuple[GateNeedFact, ...]":
        """Which gates of Kubernetes they need."""
        from poolwright.catalog.tables.nvidia import GateNeedFact

        return self._decode("nvidia-gate-needs", _Table[GateNeedFact])

    @cached_property
    def hardware(self) -> "tuple[HardwareFact, ...]":
        """Accelerator models as their driver publishes them."""
        from poolwright.catalog.tables.hardware import HardwareFact

        return self._decode("hardware", _Table[HardwareFact])

    @cached_property
    def mig_profiles(self) -> "tuple[MigProfileFact, ...]":
        """How models can be partitioned."""
        from poolwright.catalog.tables.hardware import MigProfileFact

        return self._decode("mig-profiles", _Table[MigProfileFact])

    @cached_property
    def device_types(self) -> "tuple[DeviceTypeFact, ...]":
        """Types of devices that drivers publish."""
        from poolwright.catalog.tables.published import DeviceTypeFact

        return self._decode("device-types", _Table[DeviceTypeFact])

    @cached_property
    def device_capacities(self) -> "tuple[CapacityFact, ...]":
        """Capacities that drivers publish."""
        from poolwright.catalog.tables.published import CapacityFact

        return self._decode("device-capacities", _Table[CapacityFact])

    @cached_property
    def releases(self) -> "tuple[ReleaseFact, ...]":
        """Releases of components whose range a stack may write."""
        from poolwright.catalog.tables.pins import ReleaseFact

        return self._decode("releases", _Table[ReleaseFact])

    @cached_property
    def chart_crds(self) -> "tuple[ChartCrdFact, ...]":
        """CRDs that come with charts."""
        from poolwright.catalog.tables.pins import ChartCrdFact

        return self._decode("chart-crds", _Table[ChartCrdFact])

    @cached_property
    def known_traps(self) -> "tuple[TrapFact, ...]":
        """What is known to go wrong with versions."""
        from poolwright.catalog.tables.pins import TrapFact

        return self._decode("known-traps", _Table[TrapFact])

    @cached_property
    def memory_drivers(self) -> frozenset[str]:
        """Drivers that publish the memory of their devices: for `generate`, which needs no more of the capacities."""
        rows = msgspec.json.decode(self._files["device-capacities.json"])["facts"]
        return frozenset(row["driver"] for row in rows if row["name"] == "memory")

    @cached_property
    def operator_lines(self) -> "tuple[OperatorLineFact, ...]":
        """Lines of the GPU operator: what they run on, and how long."""
        from poolwright.catalog.tables.operator import OperatorLineFact

        return self._decode("operator-lines", _Table[OperatorLineFact])

    @cached_property
    def operator_releases(self) -> "tuple[OperatorReleaseFact, ...]":
        """Releases of the GPU operator."""
        from poolwright.catalog.tables.operator import OperatorReleaseFact

        return self._decode("operator-releases", _Table[OperatorReleaseFact])

    @cached_property
    def operator_components(self) -> "tuple[ComponentFact, ...]":
        """What each of them pins."""
        from poolwright.catalog.tables.operator import ComponentFact

        return self._decode("operator-components", _Table[ComponentFact])

    @cached_property
    def operator_gpu_drivers(self) -> "tuple[GpuDriverFact, ...]":
        """GPU drivers that each line lists."""
        from poolwright.catalog.tables.operator import GpuDriverFact

        return self._decode("operator-gpu-drivers", _Table[GpuDriverFact])

    @cached_property
    def driver_releases(self) -> "tuple[DriverReleaseFact, ...]":
        """Releases of the NVIDIA DRA driver."""
        from poolwright.catalog.tables.operator import DriverReleaseFact

        return self._decode("driver-releases", _Table[DriverReleaseFact])

    @cached_property
    def driver_minimums(self) -> "tuple[MinimumFact, ...]":
        """What the NVIDIA DRA driver asks of everything around it."""
        from poolwright.catalog.tables.operator import MinimumFact

        return self._decode("driver-minimums", _Table[MinimumFact])

    @cached_property
    def driver_settings(self) -> "tuple[DriverSettingFact, ...]":
        """The words of a stack's driver settings, and what each turns into."""
        from poolwright.catalog.tables.driver_settings import DriverSettingFact

        return self._decode("driver-settings", _Table[DriverSettingFact])

    @cached_property
    def helm_values(self) -> "tuple[HelmValueFact, ...]":
        """Values that the charts know."""
        from poolwright.catalog.tables.driver_settings import HelmValueFact

        return self._decode("helm-values", _Table[HelmValueFact])

    @cached_property
    def engines(self) -> "tuple[EngineFact, ...]":
        """Serving engines: command, port, paths."""
        from poolwright.catalog.tables.engines import EngineFact

        return self._decode("engines", _Table[EngineFact])

    @cached_property
    def engine_arguments(self) -> "tuple[EngineArgumentFact, ...]":
        """How each engine spells what an envelope says."""
        from poolwright.catalog.tables.engines import EngineArgumentFact

        return self._decode("engine-arguments", _Table[EngineArgumentFact])

    @cached_property
    def engine_memory(self) -> "tuple[EngineMemoryFact, ...]":
        """What engines take beside weights and KV cache."""
        from poolwright.catalog.tables.engine_memory import EngineMemoryFact

        return self._decode("engine-memory", _Table[EngineMemoryFact])

    @cached_property
    def metrics(self) -> "tuple[MetricFact, ...]":
        """Series that alerts and dashboards may use."""
        from poolwright.catalog.tables.engines import MetricFact

        return self._decode("metrics", _Table[MetricFact])

    def kubernetes_minor(self, minor: str) -> KubernetesFact | None:
        """What is known of a minor release."""
        return next((fact for fact in self.kubernetes if fact.minor == minor), None)

    def kubernetes_gate(self, minor: str, name: str) -> "KubernetesGateFact | None":
        """A gate in a minor release; None: neither that it exists nor that it doesn't is known."""
        return next((fact for fact in self.kubernetes_gates if (fact.minor, fact.name) == (minor, name)), None)

    def effective_gates(self, minor: str, overrides: Mapping[str, bool]) -> Mapping[str, bool]:
        """Which gates are on in a minor release, by name, sorted.

        overrides: differences from the defaults. One that the release doesn't take (KubernetesGateFact.takes) changes
        nothing, as there the component refuses to start; one of a gate that isn't known here counts.
        A gate whose default isn't known is missing, unless it is overridden.
        """
        from poolwright.catalog.tables.kubernetes import build_effective_gates

        return build_effective_gates(self.kubernetes_gates, minor, overrides)

    def served_api(self, minor: str, api_version: str, kind: str) -> "ServedApiFact | None":
        """A kind in an API version; None: the minor release doesn't have it, or it isn't known here."""
        wanted = (api_version, kind)
        return next((f for f in self.served_apis if (f.api_version, f.kind) == wanted and minor in f.minors), None)

    def api_version(self, minor: str, kind: str) -> str | None:
        """The API version to render a kind in: the one that a minor release serves by default."""
        facts = (fact for fact in self.served_apis if fact.kind == kind and minor in fact.minors and fact.by_default)
        return next((fact.api_version for fact in facts), None)

    def compute_class(self, driver: str, compute_class: str) -> ComputeClassFact | None:
        """How a driver's devices show that they have native arithmetic of a class."""
        wanted = (driver, compute_class)
        return next((fact for fact in self.compute_classes if (fact.driver, fact.compute_class) == wanted), None)

    def attribute(self, driver: str, domain: str, name: str) -> AttributeFact | None:
        """What is known of an attribute on a driver's devices: type and stability are the same on all of its types."""
        return next(
            (
                fact
                for fact in self.device_attributes
                if fact.driver in (driver, "*") and (fact.domain, fact.name) == (domain, name)
            ),
            None,
        )

    def published_attributes(self, device_type: str, release: str) -> tuple[AttributeFact, ...]:
        """What a release of the NVIDIA driver publishes on a type of device, optional and gated ones too."""
        return tuple(f for f in self.device_attributes if f.device_type == device_type and f.published_by(release))

    def published_capacities(self, device_type: str, release: str) -> "tuple[CapacityFact, ...]":
        """The same for capacities."""
        return tuple(f for f in self.device_capacities if f.device_type == device_type and f.published_by(release))

    def hardware_model(self, model: str) -> "HardwareFact | None":
        """A model by its id."""
        return next((fact for fact in self.hardware if fact.model == model), None)

    def model_profiles(self, model: str) -> "tuple[MigProfileFact, ...]":
        """The partitions of a model, those of the model whose profiles it shares if it does; none: it has no MIG."""
        fact = self.hardware_model(model)
        owner = (fact.profiles_of or model) if fact else model
        return tuple(profile for profile in self.mig_profiles if profile.model == owner)

    def nvidia_gate(self, release: str, name: str) -> "GateReleaseFact | None":
        """A gate in a release of the NVIDIA driver; None: that release wasn't read, or nobody knows the gate."""
        from poolwright.catalog.tables.driver_release import is_release

        return next((f for f in self.nvidia_gate_releases if f.name == name and is_release(release, f.release)), None)

    def broken_gate_rules(
        self, release: str, enabled: Collection[str], settings: Mapping[str, str]
    ) -> "tuple[GateRuleFact, ...]":
        """The rules that gates and settings of a release of the NVIDIA driver break together; documented ones too.

        enabled:  all gates that are on, defaults included.
        settings: what isn't at its default, by the names of driver-settings.
        """
        return tuple(rule for rule in self.nvidia_gate_rules if rule.is_broken(release, enabled, settings))

    def operator_line(self, version: str) -> "OperatorLineFact | None":
        """The line of a release of the GPU operator: 26.7 of v26.7.2."""
        line = ".".join(version.removeprefix("v").split(".")[:2])
        return next((fact for fact in self.operator_lines if fact.line == line), None)

    def operator_release(self, version: str) -> "OperatorReleaseFact | None":
        """A release of the GPU operator."""
        return next((fact for fact in self.operator_releases if fact.version == version.removeprefix("v")), None)

    def operator_component(self, version: str, component: str) -> "ComponentFact | None":
        """What a release of the GPU operator pins for a component."""
        wanted = (version.removeprefix("v"), component)
        return next((fact for fact in self.operator_components if (fact.release, fact.component) == wanted), None)

    def driver_release(self, version: str) -> "DriverReleaseFact | None":
        """A release of the NVIDIA DRA driver."""
        return next((fact for fact in self.driver_releases if fact.version == version.removeprefix("v")), None)

    def driver_setting(self, install: str, setting: str, word: str) -> "DriverSettingFact | None":
        """What a setting's word turns into under an installer; None: it can't be said there."""
        words = (word, "N") if word.isdecimal() and int(word) else (word,)
        facts = (fact for fact in self.driver_settings if (fact.install, fact.setting) == (install, setting))
        return next((fact for fact in facts if fact.word in words), None)

    def unknown_helm_values(self, chart: str, version: str, values: Mapping[str, object]) -> tuple[str, ...]:
        """Dotted keys of values that a chart doesn't know, or has removed, in order; all if the chart isn't known."""
        from poolwright.catalog.tables.driver_settings import find_unknown

        known = [fact for fact in self.helm_values if (fact.chart, fact.version) == (chart, version.removeprefix("v"))]
        return tuple(find_unknown(known, values))

    def engine(self, name: str) -> "EngineFact | None":
        """An engine by its name."""
        return next((fact for fact in self.engines if fact.engine == name), None)

    def engine_argument(self, engine: str, quantity: str) -> "EngineArgumentFact | None":
        """How an engine spells a quantity; None: it has no argument for it."""
        wanted = (engine, quantity)
        return next((fact for fact in self.engine_arguments if (fact.engine, fact.quantity) == wanted), None)

    def metric(self, emitter: str, measure: str) -> "MetricFact | None":
        """The metric in which an emitter reports a measure."""
        return next((fact for fact in self.metrics if (fact.emitter, fact.measure) == (emitter, measure)), None)

    def _decode(self, name: str, table: type[_Table[F]]) -> tuple[F, ...]:
        return msgspec.json.decode(self._files[f"{name}.json"], type=table).facts


def parse_facts(files: Mapping[str, bytes]) -> Facts:
    """The tables as one value.

    files: text by file name, those of FACT_FILES.
    """
    return Facts(files)
