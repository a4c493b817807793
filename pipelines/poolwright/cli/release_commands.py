"""Commands of who releases."""

from __future__ import annotations

from typing import Any

import click

from poolwright.cli.group import Command, as_of_option, cli, form_option, project_option


@cli.command(cls=Command, example="poolwright pin --check --project examples/fleet")
@project_option
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 if the lock would change.")
@click.option(
    "--online",
    is_flag=True,
    help="Ask registries for the digest of every image and chart, by HTTPS (HTTPS_PROXY is heeded) and without "
    "credentials; exit code 2, and the lock as it was, unless each of them answers.",
)
@click.option(
    "--upgrade",
    "upgrades",
    multiple=True,
    metavar="COMPONENT",
    help="Let this component move to the newest version in its range: kubernetes, gpuOperator, gpuDriver, "
    "containerRuntime, containerToolkit, a DRA driver's name, pricing or bounds; repeatable.",
)
@form_option("How it is printed; `poolwright schema PinReport`, UpgradePlan and RehearsalMatrix describe the JSON.")
@click.option(
    "--matrix", is_flag=True, help="Print the combinations in use, and which rehearsals are owed, and write nothing."
)
@as_of_option
@click.option(
    "--plan",
    is_flag=True,
    help="Print the steps from the lock as it is to the new one, with claims at risk, and write nothing.",
)
@click.option("--from", "since", metavar="FILE", help="With --plan: the earlier lock; default: the project's own.")
def pin(
    project: str,
    only_check: bool,
    online: bool,
    upgrades: tuple[str, ...],
    form: Any,
    matrix: bool,
    as_of: Any,
    plan: bool,
    since: str | None,
) -> int:
    """Write poolwright.lock: exact versions, charts, digests that are known, and the memory that claims ask for.

    What the lock says is kept while the specs hold it. Without --online nothing is asked of any network.
    """
    from poolwright.cli.pin import PinOptions, run_pin

    if since is not None and not plan:
        raise click.UsageError("--from goes with --plan")
    if plan and matrix:
        raise click.UsageError("--plan and --matrix are printed one at a time")
    options = PinOptions(
        project=project,
        check=only_check,
        online=online,
        upgrades=upgrades,
        form=form,
        matrix=matrix,
        plan=plan,
        since=since,
    )
    return run_pin(options, as_of.date() if as_of else None)


@cli.command(cls=Command, example="poolwright release r1 --as-of 2026-11-30 --project examples/fleet")
@click.argument("name")
@project_option
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="The day that rehearsals and waivers are judged on, which is written in the packet; default: the commit's.",
)
@click.option("--dry-run", is_flag=True, help="Judge and say, and write nothing.")
@click.option("--tar", metavar="FILE", help="Write the packet as a tar too, in the one form that `verify` reads.")
def release(name: str, project: str, as_of: Any, dry_run: bool, tar: str | None) -> int:
    """Make the packet of HEAD in releases/NAME: manifests, receipts, prices, what changed, and what it all is from.

    Anybody who has the commit can make it again, byte for byte. Nothing is written if a verdict says no, or if anything
    is owed that no waiver covers.
    """
    from poolwright.cli.release import ReleaseOptions, run_release

    if dry_run and tar is not None:
        raise click.UsageError("--tar writes, and --dry-run writes nothing")
    day = as_of.date() if as_of else None
    return run_release(ReleaseOptions(name=name, project=project, as_of=day, dry_run=dry_run, tar=tar))


@cli.command(cls=Command, example="poolwright sign --new-key release.pem")
@click.argument("packet", required=False)
@click.option("--key", "keys", multiple=True, metavar="FILE", help="A private key, PKCS#8 in PEM; repeatable.")
@click.option(
    "--key-fd", "key_fds", multiple=True, type=click.IntRange(0), metavar="N", help="The same, from an open descriptor."
)
@click.option(
    "--out",
    metavar="DIR",
    help="Where attestations are written; default: attestations/ of a folder, TAR.attestations/ beside a tar.",
)
@click.option("--new-key", metavar="FILE", help="Make an Ed25519 key, and print its entry for a trust file.")
def sign(
    packet: str | None, keys: tuple[str, ...], key_fds: tuple[int, ...], out: str | None, new_key: str | None
) -> int:
    """Sign PACKET, a folder of releases/ or its tar, with each key: attestations/KEYID.dsse.json.

    Every file is compared with packet.json first. No project is read and no spec, so that it may run where keys are.
    """
    from poolwright.cli.sign import SignOptions, run_new_key, run_sign

    if new_key is not None:
        if packet is not None or keys or key_fds or out is not None:
            raise click.UsageError("--new-key makes a key and signs nothing: it stands alone")
        return run_new_key(new_key)
    if packet is None:
        raise click.UsageError("name the PACKET to sign, or a FILE with --new-key")
    if not keys and not key_fds:
        raise click.UsageError("name a private key: --key FILE, or --key-fd N")
    return run_sign(SignOptions(packet=packet, keys=keys, key_fds=key_fds, out=out))


@cli.command(cls=Command, example="poolwright verify releases/2026-11-30 --trust trust.yaml --no-rebuild")
@click.argument("packet")
@click.option(
    "--trust",
    metavar="FILE",
    help="The trust file, from outside of every repository; default: POOLWRIGHT_TRUST, or /etc/poolwright/trust.yaml.",
)
@click.option(
    "--attestations",
    metavar="DIR",
    help="Where more attestations are; default: attestations/ of a folder, TAR.attestations/ beside a tar.",
)
@click.option(
    "--project",
    metavar="DIR",
    help="A folder of the project in a clone that has the packet's commit; default: the one that holds the packet, or "
    "the nearest from here.",
)
@click.option("--no-rebuild", is_flag=True, help="Check signatures and digests alone, where there is no clone.")
def verify(packet: str, trust: str | None, attestations: str | None, project: str | None, no_rebuild: bool) -> int:
    """Check PACKET, a folder of releases/ or its tar: who signed it, every digest, and that its commit gives it again.

    As many keys as the trust file asks for have to have signed packet.json, every file has to be what that says, and
    made again from the commit that it names, in an empty folder, the packet has to be the same, byte for byte. Nothing
    is asked of a network.
    """
    from poolwright.cli.verify_packet import VerifyOptions, run_verify_packet

    if no_rebuild and project is not None:
        raise click.UsageError("--project is for the rebuild, and --no-rebuild asks for none")
    options = VerifyOptions(
        packet=packet, trust=trust, attestations=attestations, project=project, no_rebuild=no_rebuild
    )
    return run_verify_packet(options)
