"""Compatibility groups of devices that take from one counter set: alpha in Kubernetes 1.37.

Devices stand together if all of them name a common group, or if none of them names any.

Source: k8s.io/dynamic-resource-allocation structured, compatibility_groups.go of v0.37.
"""

from __future__ import annotations

from collections.abc import Sequence

GroupState = frozenset[str] | tuple[()]  # the groups that are common so far; (): no device names any


def narrow_groups(state: GroupState | None, groups: Sequence[str]) -> GroupState | None:
    """What is common once a device with these groups is there too; None: it can't be.

    state: before it; None: there is no device yet.
    """
    if state is None:
        return frozenset(groups) if groups else ()
    if not groups or state == ():
        return () if not groups and state == () else None
    common = frozenset(state) & frozenset(groups)
    return common or None


def join_groups(state: GroupState | None, groups: Sequence[str]) -> GroupState:
    """As narrow_groups for a device that is there already, whether it fits or not."""
    if state is None:
        return frozenset(groups) if groups else ()
    if not groups or state == ():
        return state
    return frozenset(state) & frozenset(groups)
