"""`poolwright verify`: whether a packet is what trusted keys signed, and what its commit gives."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from poolwright.argocd.trust_file import Reader, read_trust, trust_path
from poolwright.attestations.digests import check_digests
from poolwright.attestations.given import GivenPacket
from poolwright.attestations.judge import Judged, judge_signatures
from poolwright.cli.output import refuse, say, tell
from poolwright.packet.index import INDEX, RELEASES, SUMS, PacketError, PacketIndex, parse_index
from poolwright.packets.read import build_tar_finding, read_packet
from poolwright.specs.finding import Finding, render_text, sort_findings
from poolwright.trust.policy import TrustPolicy

_READER = Reader(
    rule="poolwright releases",
    why_needed="it says whose signatures count; without one nobody's do",
    fix_missing="name one that you have from elsewhere: --trust FILE, or POOLWRIGHT_TRUST "
    "(`poolwright sign --new-key` prints the entry of a key)",
    why_outside="who may write to a repository would decide whose releases of it count",
    fix_inside="keep it elsewhere, and name it: --trust FILE, or POOLWRIGHT_TRUST",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """What is asked for."""

    packet: str  # a folder or a tar
    trust: str | None = None  # None: as the environment says
    attestations: str | None = None  # a folder; None: the packet's own
    project: str | None = None  # in a clone that has its commit; None: that holds the packet, or the nearest
    no_rebuild: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedPacket:
    """A packet whose files are what it says and that enough trusted keys signed."""

    index: PacketIndex
    packet: GivenPacket
    judged: Judged
    warnings: tuple[Finding, ...]


def run_verify_packet(options: VerifyOptions) -> int:
    """Judge a packet by signatures and digests, then by its commit; 0: it holds, 1: it doesn't, each reason printed.

    What isn't signed is not made again: who only wants to know whether it is reproducible signs it first.
    Raises: SpecError if the packet or the trust file can't be read, or its commit isn't there.
    """
    trust = options.trust or trust_path(os.environ)
    policy = read_trust(trust, _list_untrusted(options.packet), _READER)
    try:
        packet = read_packet(options.packet, beside=options.attestations)
    except PacketError as error:
        return _say_not(options.packet, [build_tar_finding(options.packet, error)])
    verified = verify_offline(packet, policy, trust)
    if not isinstance(verified, VerifiedPacket):
        return _say_not(options.packet, verified)
    say(render_text(verified.warnings), error=True)
    if options.no_rebuild:
        _say_verified(verified, "not rebuilt")
        return 0
    from poolwright.cli.packet_rebuild import rebuild  # here: it reads and judges a whole project

    given = verified.packet
    files = {**given.files, INDEX: given.index, SUMS: given.sums or b""}
    try:
        found = rebuild(options.project or _find_project(options.packet), verified.index, files)
    except PacketError as error:
        return refuse("--project", str(error))
    if found:
        return _say_not(options.packet, found)
    _say_verified(verified, "rebuilt from its commit, and the same")
    return 0


def verify_offline(
    packet: GivenPacket, policy: TrustPolicy, trust: str, project: str | None = None
) -> VerifiedPacket | tuple[Finding, ...]:
    """What can be said of a packet without its repository; findings, warnings among them, if it doesn't hold.

    trust:   what findings call the trust file.
    project: whose packet it has to be; None: of any that the trust file knows.
    Raises:  SpecError if a key of the trust file can't be used.
    """
    findings = check_digests(packet)
    try:
        index = parse_index(packet.index)
    except PacketError:  # the one finding says so
        return findings
    judged = judge_signatures(packet.index, packet.attestations, policy, project, file=trust)
    findings = sort_findings((*findings, *judged.findings))
    if any(one.severity == "error" for one in findings):
        return findings
    return VerifiedPacket(index=index, packet=packet, judged=judged, warnings=findings)


def _list_untrusted(packet: str) -> tuple[str, ...]:
    """Folders where who made the packet could put a trust file: its own, and the repository that holds it."""
    real = os.path.realpath(packet)
    folders = [real] if os.path.isdir(real) else []  # noqa: PTH112
    above = real
    while (parent := os.path.dirname(above)) != above:  # noqa: PTH120
        above = parent
        if os.path.lexists(os.path.join(above, ".git")):  # noqa: PTH118
            folders.append(above)
    return tuple(folders)


def _say_not(packet: str, findings: Sequence[Finding]) -> int:
    say(render_text(findings))
    errors = sum(1 for one in findings if one.severity == "error")
    tell(f"not verified: {packet}: {errors} {'error' if errors == 1 else 'errors'}")
    return 1


def _find_project(packet: str) -> str:
    """The folder whose releases/ holds a packet, or the one that the command runs in."""
    releases, name = os.path.split(os.path.dirname(os.path.realpath(packet)))  # noqa: PTH120
    return releases if name == RELEASES and os.path.isdir(packet) else "."  # noqa: PTH112


def _say_verified(verified: VerifiedPacket, rebuilt: str) -> None:
    index, judged = verified.index, verified.judged
    tell(f"packet {index.name} of {index.project}, release {index.sequence:,}, of commit {index.source.git_commit}")
    tell(f"digest {judged.digest}")
    for signer in judged.signers:
        tell(f"signed by {signer}")
    for one in index.absent:
        tell(f"not in it: {one.role}: {one.why}")
    for waiver in index.waivers:
        tell(
            f"waived until {waiver.expires} by {waiver.owner}: {waiver.file}: {waiver.what} [{waiver.rule}]: "
            f"{waiver.reason}"
        )
    tell(f"verified: {len(judged.signers)} of {judged.threshold} signatures, {len(index.files):,} files; {rebuilt}")
