"""The files that an envelope names of its model: the config.json, and what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from poolwright.admission.architecture import Unsupported
from poolwright.admission.deployment import Deployment, Profile
from poolwright.admission.from_envelope import build_deployment, parse_profile
from poolwright.admission.parse_config import parse_config
from poolwright.specs.envelope import Envelope, EnvelopeSpec
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place


def parse_deployment(spec: EnvelopeSpec, files: Mapping[str, bytes], *, version: str) -> Deployment | Unsupported:
    """`build_deployment` of an envelope and the files that it names, by path.

    Raises: ValueError if one of the files can't be read.
    """
    measured = spec.model.measured_profile
    architecture = parse_config(files[spec.model.config_path])
    profile = None if measured is None else parse_profile(files[measured], measured)
    if isinstance(architecture, Unsupported):
        return architecture
    return build_deployment(spec, architecture, version=version, profile=profile)


def check_model_files(envelopes: Iterable[Spec[Envelope]], files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Files that can't be read, each once."""
    said: set[str] = set()
    for envelope in envelopes:
        model = envelope.value.spec.model
        for path, parse in ((model.config_path, parse_config), (model.measured_profile, _parse_profile)):
            if path is None or path in said:
                continue
            said.add(path)
            try:
                parse(files[path])
            except ValueError as error:
                yield Finding(
                    code="model-unreadable",
                    severity="error",
                    place=Place(path),
                    what=f"{error}",
                    why=f"envelope {envelope.value.identity} names it, and its price follows from it",
                    rule="poolwright.dev/v1alpha1",
                    fix="take the model's own config.json, or what an engine printed",
                )


def _parse_profile(text: bytes) -> Profile:
    return parse_profile(text, "")
