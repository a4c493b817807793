"""What `verify` and a delivery that verifies build on: a packet that holds, or every finding."""

from __future__ import annotations

import pytest

from made_packet import ALICE, NAME, make_index, make_packet, make_signed, make_trust
from poolwright.attestations.given import GivenPacket, build_given
from poolwright.cli.verify_packet import VerifiedPacket, verify_offline
from poolwright.packet.index import PacketError
from poolwright.trust.policy import parse_trust

POLICY = parse_trust(make_trust(ALICE).encode(), "trust.yaml")
GOOD = make_signed(ALICE)


def test_files_are_parted_by_what_they_are() -> None:
    own = make_packet()
    index, sums = own.pop("packet.json"), own.pop("SHA256SUMS")
    attestations = {path.partition("/")[2]: data for path, data in GOOD.items() if path.startswith("attestations/")}
    others = {"attestations/x": b"", ".hidden": b"", "a/../b": b""}
    assert build_given({**GOOD, **others}, name=NAME, others=["link"]) == GivenPacket(
        name=NAME,
        index=index,
        sums=sums,
        files=own,
        attestations=attestations,
        others=(".hidden", "a/../b", "attestations/x", "link"),
    )
    with pytest.raises(PacketError, match=r"^there is no packet\.json in it$"):
        build_given({"SHA256SUMS": b""}, name=None)


def test_a_packet_that_holds_comes_with_who_signed_it() -> None:
    given = build_given(GOOD, name=NAME)
    verified = verify_offline(given, POLICY, "trust.yaml")
    assert isinstance(verified, VerifiedPacket)
    assert (verified.index, verified.packet, verified.warnings) == (make_index(), given, ())
    assert [one.name for one in verified.judged.signers] == ["alice"]


def test_a_packet_of_another_project_than_was_asked_for_does_not_hold() -> None:
    """The sidecar knows whose packet it wants: that of another project is none, whoever signed it."""
    findings = verify_offline(build_given(GOOD, name=NAME), POLICY, "trust.yaml", "other")
    assert not isinstance(findings, VerifiedPacket)
    assert [(one.severity, one.code) for one in findings] == [("error", "packet-elsewhere")]
    assert isinstance(verify_offline(build_given(GOOD, name=NAME), POLICY, "t", "inference-fleet"), VerifiedPacket)
