"""All objects that were given together, so that one can be looked up from another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poolwright.rules.claim import CLAIM, TEMPLATE, Claim, is_accelerator, list_selectors, parse_claim
from poolwright.rules.placed import PlacedObject
from poolwright.rules.pod import Container, Pod, PodClaim, find_pods
from poolwright.rules.served import GROUP

_DRIVER = re.compile(r"""\bdevice\.driver\s*==\s*["']([^"']+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSet:
    """Objects, and what is found in them."""

    objects: Sequence[PlacedObject]
    pods: Sequence[Pod]
    claims: Mapping[tuple[str, str], Sequence[Claim]]  # by kind and name
    classes: Mapping[str, PlacedObject]
    namespaces: Mapping[str, PlacedObject]

    def find_claim(self, pod: Pod, claim: PodClaim) -> Claim | None:
        """The claim or template that an entry of a pod names; None if it isn't in the set."""
        kind, name = (TEMPLATE, claim.template_name) if claim.template_name.text else (CLAIM, claim.claim_name)
        return next(
            (
                found
                for found in self.claims.get((kind, name.text), ())
                if is_same_namespace(found.owner.namespace, pod.owner.namespace)
            ),
            None,
        )

    def find_used_claims(self, pod: Pod, container: Container) -> tuple[tuple[str, Claim | None], ...]:
        """What a container uses: the request it names (empty: all), and the claim if it is in the set."""
        used = []
        for reference in container.claims:
            entry = pod.claim(reference.get("name").text)
            if entry is not None:
                used.append((reference.get("request").text, self.find_claim(pod, entry)))
        return tuple(used)

    def is_accelerator(self, class_name: str) -> bool:
        """Whether devices of a class are what engines compute on, by the names of the class and of its driver."""
        found = self.classes.get(class_name)
        drivers = _find_drivers(found) if found else ()
        return is_accelerator(class_name) and all(is_accelerator(driver) for driver in drivers)


def build_set(objects: Iterable[PlacedObject]) -> ObjectSet:
    """The set of these objects; of two with one name, the first counts."""
    listed = tuple(objects)
    claims: dict[tuple[str, str], list[Claim]] = {}
    for obj in listed:
        claim = parse_claim(obj)
        if claim is not None:
            claims.setdefault((obj.kind, obj.name), []).append(claim)
    return ObjectSet(
        objects=listed,
        pods=tuple(pod for obj in listed for pod in find_pods(obj)),
        claims=claims,
        classes={obj.name: obj for obj in reversed(listed) if obj.is_of(GROUP, "DeviceClass")},
        namespaces={obj.name: obj for obj in reversed(listed) if obj.is_of("", "Namespace")},
    )


def is_same_namespace(one: str, other: str) -> bool:
    """Whether two objects may be in one namespace: where one names none, whoever applies it decides."""
    return one == other or not one or not other


def _find_drivers(device_class: PlacedObject) -> tuple[str, ...]:
    selectors = list_selectors(device_class.root.get("spec"))
    return tuple(match[1] for selector in selectors for match in _DRIVER.finditer(selector.text))
