"""Names of attributes and capacities: an identifier in a domain."""

from __future__ import annotations


def split_name(driver: str, name: str) -> tuple[str, str]:
    """Domain and identifier of an attribute or capacity; the driver's own domain where the name says none.

    Source: k8s.io/api resource/v1 QualifiedName.
    """
    domain, separator, identifier = name.rpartition("/")
    return (domain, identifier) if separator else (driver, name)
