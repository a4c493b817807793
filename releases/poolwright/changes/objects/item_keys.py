"""How the items of a list are told apart, by the list's name; and for which lists their order means something.

Source: the merge keys of Kubernetes' OpenAPI definitions and of the custom resources that Poolwright renders; DRA's
lists have none in the definitions that Kustomize knows, so they stand here by what the API server demands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ItemKey:
    """The fields that tell an item apart; one that ends with `?` may be missing, and one with `?x` is then x."""

    fields: tuple[str, ...]


def _key(*fields: str) -> ItemKey:
    return ItemKey(fields)


_NAME: Final = (_key("name"),)
# The first key that every item of both sides has; of a list that isn't here the name, if every item has one. Items
# without a key, the selectors of a class say, are told apart by all that they hold, and called by their position.
ITEM_KEYS: Final[Mapping[str, tuple[ItemKey, ...]]] = {
    "volumeMounts": (_key("mountPath"),),
    "volumeDevices": (_key("devicePath"),),
    "ports": (_key("containerPort", "protocol?TCP"), _key("port", "protocol?TCP")),
    "claims": (_key("name", "request?"),),
    "tolerations": (_key("key?", "effect?"),),
    "taints": (_key("key", "effect?"),),
    "conditions": (_key("type"),),
    "ownerReferences": (_key("uid"), _key("kind", "name")),
    "rules": (_key("alert"), _key("record"), _key("name")),
    "topologySpreadConstraints": (_key("topologyKey", "whenUnsatisfiable?"),),
    "hostAliases": (_key("ip"),),
    "subjects": (_key("kind", "name", "namespace?"),),
    "podMetricsEndpoints": (_key("port", "path?"),),
    "endpoints": (_key("port", "path?"),),
    "ignoreDifferences": (_key("kind", "name?"),),
    "parentRefs": (_key("name", "sectionName?"),),
    "backendRefs": (_key("name", "port?"),),
}
DEFAULT_KEYS: Final = _NAME
# Lists that are sets: nothing and nobody can tell one order from another.
UNORDERED: Final = frozenset(
    (
        *("accessModes", "claims", "conditions", "constraints", "finalizers", "hostAliases", "imagePullSecrets"),
        *("ownerReferences", "ports", "resourceClaims", "secrets", "selectors", "subjects", "syncOptions", "taints"),
        *("tolerations", "topologySpreadConstraints", "validations", "volumeDevices", "volumeMounts", "volumes"),
    )
)
