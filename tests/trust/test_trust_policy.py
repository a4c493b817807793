"""The trust file: read strictly, and what it lets an Argo CD project have."""

from __future__ import annotations

import json

import pytest

from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.scalar import FORMATS
from poolwright.trust.allow import check_delivery, find_allowed
from poolwright.trust.policy import Allowed, TrustedKey, TrustedProject, TrustPolicy, parse_trust

KEY = FORMATS["public-key"].example
FILE = "/etc/poolwright/trust.yaml"
HEAD = "apiVersion: poolwright.dev/v1alpha1\nkind: TrustPolicy\n"
ALLOW = """\
allow:
  - {argocdProject: fleet-east, clusters: [east], units: ["*"], deliveries: [committed, plugin]}
  - {argocdProject: team-chat, clusters: [east, lab], units: [chat-70b], deliveries: [plugin]}
  - {argocdProject: team-chat, clusters: [lab], units: [rag-8b], deliveries: [packet]}
  - {argocdProject: platform, clusters: ["*"], units: [platform], deliveries: [committed]}
"""
PROJECTS = f"""\
projects:
  - name: inference-fleet
    threshold: 1
    minSequence: 7
    keys:
      - name: alice
        publicKey: |
{"".join(f"          {line}" for line in KEY.splitlines(keepends=True))}    revoked: ["{"a" * 64}"]
"""


def read(text: str) -> TrustPolicy:
    return parse_trust((HEAD + text).encode(), FILE)


def test_the_whole_format() -> None:
    assert read(PROJECTS + ALLOW) == TrustPolicy(
        api_version="poolwright.dev/v1alpha1",
        kind="TrustPolicy",
        projects=(
            TrustedProject(
                name="inference-fleet",
                threshold=1,
                min_sequence=7,
                keys=(TrustedKey(name="alice", public_key=KEY),),
                revoked=("a" * 64,),
            ),
        ),
        allow=(
            Allowed(argocd_project="fleet-east", clusters=("east",), units=("*",), deliveries=("committed", "plugin")),
            Allowed(argocd_project="team-chat", clusters=("east", "lab"), units=("chat-70b",), deliveries=("plugin",)),
            Allowed(argocd_project="team-chat", clusters=("lab",), units=("rag-8b",), deliveries=("packet",)),
            Allowed(argocd_project="platform", clusters=("*",), units=("platform",), deliveries=("committed",)),
        ),
    )
    assert read("") == TrustPolicy(api_version="poolwright.dev/v1alpha1", kind="TrustPolicy")


RULE = "(poolwright.dev/v1alpha1)"
BAD = {
    "an-unknown-field": (
        HEAD + "allows: []\n",
        f"""\
{FILE}:3:1: unknown field "allows"  [unknown-field]
  at   allows
  why  a field that isn't in the schema would have no effect, so it is refused {RULE}
  fix  did you mean "allow"? known here: allow, apiVersion, kind, projects
""",
    ),
    "nothing": (
        "# nothing\n",
        f"""\
{FILE}: the trust file is empty  [not-a-spec]
  why  who is trusted stands in one document {RULE}
  fix  write one document of kind TrustPolicy
""",
    ),
    "two-documents": (
        f"{HEAD}---\n{HEAD}",
        f"""\
{FILE}: the trust file has 2 documents  [not-a-spec]
  why  who is trusted stands in one document {RULE}
  fix  write one document of kind TrustPolicy
""",
    ),
    "another-kind": (
        HEAD.replace("TrustPolicy", "Project"),
        f"""\
{FILE}:2:7: kind is "Project"  [unknown-value]
  at   kind
  why  it must be TrustPolicy {RULE}
  fix  write TrustPolicy
""",
    ),
    # A pattern that isn't one of ours: names are exact, or `*`.
    "half-a-wildcard": (
        HEAD + 'allow: [{argocdProject: a, clusters: ["lab-*"], units: [b], deliveries: [plugin]}]\n',
        f"""\
{FILE}:3:39: allow[0].clusters[0] is "lab-*"  [invalid-value]
  at   allow[0].clusters[0]
  why  it must be a name as in the Project, or '*' for all {RULE}
  fix  write it as in chat-70b
""",
    ),
    "every-argocd-project": (
        HEAD + 'allow: [{argocdProject: "*", clusters: [a], units: [b], deliveries: [plugin]}]\n',
        f"""\
{FILE}:3:25: allow[0].argocdProject is "*"  [invalid-value]
  at   allow[0].argocdProject
  why  it must be DNS labels joined by '.', at most 253 characters {RULE}
  fix  write it as in interactive-80g
""",
    ),
    "no-clusters-and-no-deliveries": (
        HEAD + "allow: [{argocdProject: a, clusters: [], units: [b]}]\n",
        f"""\
{FILE}:3:9: "deliveries" is missing in allow[0]  [missing-field]
  at   allow[0]
  why  it is required: How the Project may deliver these clusters: committed, plugin, packet {RULE}
  fix  add "deliveries"
{FILE}:3:38: allow[0].clusters has 0 entries  [wrong-length]
  at   allow[0].clusters
  why  it must have at least 1 entry {RULE}
  fix  add entries
""",
    ),
    "a-private-key": (
        HEAD + PROJECTS.replace("PUBLIC", "PRIVATE"),
        f"""\
{FILE}:9:20: the public key "alice" is a private one  [invalid-value]
  at   projects[0].keys[0].publicKey
  why  it must be {FORMATS["public-key"].what} {RULE}
  fix  make a new pair, for this one has been seen, and write its public key
""",
    ),
    "no-key": (
        HEAD + PROJECTS.replace("BEGIN", "begin"),
        f"""\
{FILE}:9:20: the public key "alice" is not in PEM  [invalid-value]
  at   projects[0].keys[0].publicKey
  why  it must be {FORMATS["public-key"].what} {RULE}
  fix  write the lines of the file as a block after |
""",
    ),
    "one-key-for-two": (
        HEAD + PROJECTS.replace("    revoked", f"      - {{name: alice, publicKey: {json.dumps(KEY)}}}\n    revoked"),
        f"""\
{FILE}:13:16: two entries are called "alice"  [duplicate-name]
  at   projects[0].keys[1].name
  why  a name stands for one entry {RULE}
  fix  remove one of them
{FILE}:13:34: two entries have the same public key  [duplicate-name]
  at   projects[0].keys[1].publicKey
  why  one person would count as two {RULE}
  fix  remove one of them
""",
    ),
    "a-threshold-that-nobody-reaches": (
        HEAD + PROJECTS.replace("threshold: 1", "threshold: 2"),
        f"""\
{FILE}:5:16: 2 signatures are asked for, and there are 1 keys  [out-of-range]
  at   projects[0].threshold
  why  no release could be verified {RULE}
  fix  write 1 or less, or add keys
""",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_one_is_refused(name: str) -> None:
    text, said = BAD[name]
    with pytest.raises(SpecError) as raised:
        parse_trust(text.encode(), FILE)
    assert render_text(raised.value.findings) == said


WHY = "  why  parameters stand in a repository too, so who may have a unit is said outside of all "
PARAMETERS = "(poolwright trust in parameters)"
LISTED = "add both to one entry of `allow`; it has clusters"
ASKED: dict[str, tuple[tuple[str, str, str], tuple[str, ...] | str]] = {
    "every-unit-of-a-cluster": (("fleet-east", "east", "chat-70b"), ("committed", "plugin")),
    "the-platform-too": (("fleet-east", "east", "platform"), ("committed", "plugin")),
    "a-unit-on-several-clusters": (("team-chat", "lab", "chat-70b"), ("plugin",)),
    "a-unit-on-every-cluster": (("platform", "anything", "platform"), ("committed",)),
    "a-cluster-of-another": (("fleet-east", "lab", "chat-70b"), f"{LISTED} east; units *"),
    # Entries add up, and are each taken whole: rag-8b may be had on lab, not on east.
    "parts-of-two-entries": (("team-chat", "east", "rag-8b"), f"{LISTED} east, lab; units chat-70b, rag-8b"),
    "an-unknown-project": (
        ("default", "east", "chat-70b"),
        "add the project to `allow`, or correct spec.project of the Application",
    ),
    "a-project-is-no-pattern": (
        ("team-*", "east", "chat-70b"),
        "add the project to `allow`, or correct spec.project of the Application",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_who_may_have_what(name: str) -> None:
    (project, cluster, unit), expected = ASKED[name]
    found = find_allowed(read(ALLOW), FILE, project, cluster, unit)
    if isinstance(found, tuple):
        assert tuple(delivery for entry in found for delivery in entry.deliveries) == expected
    else:
        what = f'the Argo CD project "{project}" may not have {cluster}/{unit} rendered'
        assert render_text([found]) == f"{FILE}: {what}  [not-allowed]\n{WHY}{PARAMETERS}\n  fix  {expected}\n"


def test_how_a_cluster_is_delivered_is_allowed_too() -> None:
    policy = read(ALLOW)
    allowed = find_allowed(policy, FILE, "team-chat", "lab", "chat-70b")
    assert isinstance(allowed, tuple)
    assert check_delivery(allowed, FILE, "lab", "plugin") is None
    refused = check_delivery(allowed, FILE, "lab", "committed")
    assert refused is not None
    assert render_text([refused]) == (
        f'{FILE}: the Argo CD project "team-chat" may have cluster lab by plugin, and the Project says committed  '
        "[not-allowed]\n"
        f"  why  how a cluster is delivered decides what reviewers see before it runs {PARAMETERS}\n"
        "  fix  set the cluster's delivery back, or add committed to `deliveries`\n"
    )
