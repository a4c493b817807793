"""The release before: that with the highest sequence, and only if it is known which one that is."""

from __future__ import annotations

import pytest
from packet_indexes import INDEX, SECOND, sealed

from poolwright.packet.index import PacketError, name_packet
from poolwright.packet.previous import find_previous

FIRST, NEXT = sealed(INDEX).index_bytes, sealed(SECOND).index_bytes


def test_none_is_before_the_first() -> None:
    assert find_previous({}) is None


def test_the_highest_sequence_counts_whatever_it_is_called() -> None:
    late = sealed(SECOND, name="a").index_bytes
    found = find_previous({"r1": FIRST, "a": late})
    assert found is not None
    assert (found.index.sequence, found.previous.name, found.previous.digest) == (2, "a", name_packet(late))


@pytest.mark.parametrize(
    ("packets", "said"),
    [
        pytest.param({"r1": b"{}"}, "releases/r1: packet.json is no Packet of ", id="no-index"),
        pytest.param({"r2": FIRST}, 'releases/r2 has the packet of release "r1"', id="another-name"),
        pytest.param(
            {"r2": NEXT, "r3": sealed(SECOND, name="r3").index_bytes},
            "releases/r2 and releases/r3 both have the sequence 2",
            id="two-branches-released",
        ),
    ],
)
def test_what_is_before_is_not_known(packets: dict[str, bytes], said: str) -> None:
    with pytest.raises(PacketError) as error:
        find_previous(packets)
    assert str(error.value).startswith(said)
