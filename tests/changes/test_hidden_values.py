"""What of an object isn't in a report: secrets wherever they stand, and nothing that is derived from them."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwright.changes.objects.fields import list_field_changes
from poolwright.changes.objects.secret_text import mask_text, says_credential
from poolwright.changes.objects.secrets import conceal, find_credentials, reveal

SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}


def lines(before: Any, after: Any) -> list[str]:
    """Path, change, `hidden`, and the values that are shown."""
    return [
        " ".join(
            (
                *(one.path, one.change, *(["hidden"] if one.is_hidden else [])),
                *(text for text in (one.before, one.after) if text is not None),
            )
        )
        for one in list_field_changes(before, after)
    ]


CREDENTIALS = (
    *("API_KEY", "apiKey", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "dbPassword", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"),
    *("client-secret", "GOOGLE_APPLICATION_CREDENTIALS", "ssh_private_key", "API_KEY_2", "VLLM_API_KEY", "authtoken"),
    *("SECRET_ID", "Authorization", "passphrase", "NGC_API_KEY", "api-key"),
)
NO_CREDENTIALS = (
    *("PUBLIC_KEY", "PUBLIC_KEY_PATH", "TOKEN_FILE", "secretName", "secretKeyRef", "AWS_ACCESS_KEY_ID", "tokenizer"),
    *("max-num-batched-tokens", "max_token", "TOKENIZERS_PARALLELISM", "topologyKey", "PASSWORD_FILE", "eos_token", ""),
    *("key", "keyfile", "monkey", "token-budget", "tls-key-file", "serviceAccountName", "PWD", "PATH"),
    *("interTokenLatency", "timeToFirstToken"),
)
VARIABLES = ("OPENAI_KEY", "KEY", "DB_PASS", "MYSQL_PWD", "REDISCLI_AUTH")


def test_names_that_say_credential_and_names_that_do_not() -> None:
    assert [name for name in CREDENTIALS if not says_credential(name)] == []
    assert [name for name in NO_CREDENTIALS if says_credential(name)] == []
    assert [name for name in VARIABLES if says_credential(name) or not says_credential(name, is_variable=True)] == []
    assert not says_credential("PWD", is_variable=True)


TEXTS = {
    "password-in-a-url": ("postgres://joe:pa@ss@db:5432/x", "postgres://joe:(hidden)@db:5432/x"),
    "port-in-a-url": ("http://host:8080/path?q=a@b", "http://host:8080/path?q=a@b"),
    "digest-of-an-image": ("registry:5000/a@sha256:0123", "registry:5000/a@sha256:0123"),
    "token-as-user": ("https://0123456789abcdefghij@git/x", "https://(hidden)@git/x"),
    "bearer": ("Authorization: Bearer abc123DEF", "Authorization: (hidden)"),
    "bearer-alone": ("curl -H 'X: Bearer abc123DEF' u", "curl -H 'X: Bearer (hidden)' u"),
    "bearer-in-prose": ("a bearer token, basic setup", "a bearer token, basic setup"),
    "shapes": (
        "hf_0123456789ab ghp_0123456789ab sk-0123456789abcdef0 AKIA0123456789AB nvapi-0123456789",
        "(hidden) (hidden) (hidden) (hidden) (hidden)",
    ),
    "jwt": ("x eyJhbGciOiJI.eyJzdWIi.sig-1 y", "x (hidden) y"),
    "private-key": (
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb",
        "a\n(hidden)\nb",
    ),
    "assignment-in-a-script": ("export API_KEY=abc; vllm serve", "export API_KEY=(hidden) vllm serve"),
    "flag-in-a-script": ("vllm serve m --api-key abc --port 1", "vllm serve m --api-key (hidden) --port 1"),
    "flag-with-equals": ("vllm serve --api-key=abc --port 1", "vllm serve --api-key=(hidden) --port 1"),
    "flag-with-quotes": ('vllm --api-key "a b" --port 1', "vllm --api-key (hidden) --port 1"),
    "flag-over-two-lines": ("vllm \\\n  --api-key \\\n  abc", "vllm \\\n  --api-key \\\n  (hidden)"),
    "flag-in-a-list": ('["--api-key", "abc", "x"]', '["--api-key", (hidden), "x"]'),
    "reference": ("vllm --api-key $API_KEY --b=$(X)", "vllm --api-key $API_KEY --b=$(X)"),
    "json": ('{"a":1,"password":"x\\"y","b":2}', '{"a":1,"password":(hidden),"b":2}'),
    "yaml": ("a: 1\npassword: x y z\nb: 2", "a: 1\npassword: (hidden)\nb: 2"),
    "yaml-in-a-line-of-another-name": ("note: password=abc d", "note: password=(hidden) d"),
    "yaml-block": ("password: |\n  abc\n  def\nb: 2", "password: (hidden)\nb: 2"),
    "variables-of-a-manifest": ("- name: API_KEY\n  value: abc\n", "- name: API_KEY\n  value: (hidden)\n"),
    "query": ("https://h/x?token=abc", "https://h/x?token=(hidden)"),
    "nothing": ("--max-num-batched-tokens=8192 --tokenizer x", "--max-num-batched-tokens=8192 --tokenizer x"),
}


@pytest.mark.parametrize(("text", "masked"), TEXTS.values(), ids=TEXTS)
def test_a_text_with_a_secret_in_it(text: str, masked: str) -> None:
    assert mask_text(text) == masked


def part(text: str) -> Any:
    return yaml.safe_load(text)


SIDES = {
    "a-key-of-a-secret-changes": (
        {**SECRET, "stringData": {"token": "old-0001"}},
        {**SECRET, "stringData": {"token": "new-0002"}},
        ["stringData.token changed hidden"],
    ),
    "a-secret-that-is-the-same": (
        {**SECRET, "stringData": {"token": "old-0001"}},
        {**SECRET, "stringData": {"token": "old-0001"}},
        [],
    ),
    "keys-come-and-go-one-by-one": (
        {**SECRET, "data": {"a": "x", "b": "y"}},
        {**SECRET, "stringData": {"c": "z"}},
        ["data.a removed hidden", "data.b removed hidden", "stringData.c added hidden"],
    ),
    "variables": (
        part("env: [{name: A_TOKEN, value: one}, {name: LEVEL, value: info}, {name: KEY, valueFrom: {k: 1}}]"),
        part("env: [{name: A_TOKEN, value: two}, {name: LEVEL, value: warn}, {name: KEY, valueFrom: {k: 2}}]"),
        [
            "env[name=A_TOKEN].value changed hidden",
            "env[name=KEY].valueFrom.k changed 1 2",
            'env[name=LEVEL].value changed "info" "warn"',
        ],
    ),
    "a-variable-comes": (
        part("env: []"),
        part("env: [{name: A_TOKEN, value: one}]"),
        ['env[name=A_TOKEN] added {"name":"A_TOKEN","value":"(hidden)"}'],
    ),
    "an-argument-in-two-words": (
        part("args: [--api-key, old-value-0003]"),
        part("args: [--api-key, new-value-0004]"),
        ["args[--api-key] changed hidden"],
    ),
    "an-argument-in-one": (
        part("args: [--api-key=old, --port=1]"),
        part("args: [--api-key=new, --port=2]"),
        ["args[--api-key] changed hidden", 'args[--port] changed "1" "2"'],
    ),
    "an-argument-comes": (
        part("args: [serve]"),
        part("args: [serve, --api-key, one, two, --port, '1']"),
        [
            "args[3] added hidden",
            'args[--api-key] added ["--api-key","(hidden)"]',
            'args[--port] added ["--port","1"]',
        ],
    ),
    "a-script-with-another-key-only": (
        part("command: [sh, -c, vllm --api-key=old]"),
        part("command: [sh, -c, vllm --api-key=new]"),
        ["command[-c] changed hidden"],
    ),
    "a-script-with-more-than-that": (
        part("command: [sh, -c, vllm --api-key=old --port 1]"),
        part("command: [sh, -c, vllm --api-key=new --port 2]"),
        ['command[-c] changed "vllm --api-key=(hidden) --port 1" "vllm --api-key=(hidden) --port 2"'],
    ),
    "a-variable-that-names-another": (
        part("args: [--api-key=$(A)]"),
        part("args: [--api-key=$(B)]"),
        ['args[--api-key] changed "$(A)" "$(B)"'],
    ),
    "keys-of-a-config-map": (
        {"kind": "ConfigMap", "data": {"password": "a", "level": "info"}},
        {"kind": "ConfigMap", "data": {"password": "b", "level": "warn"}},
        ['data.level changed "info" "warn"', "data.password changed hidden"],
    ),
    "the-object-in-an-annotation": (
        {"metadata": {"annotations": {"a": '{"apiVersion":"v1","kind":"X","a":1}'}}},
        {"metadata": {"annotations": {"a": '{"apiVersion":"v1","kind":"X","a":2}'}}},
        ["metadata.annotations.a changed hidden"],
    ),
    "helm-values-as-text-and-as-an-object": (
        part("spec: {source: {helm: {values: 'a: 1', valuesObject: {replicas: 1, adminPassword: x}}}}"),
        part("spec: {source: {helm: {values: 'a: 2', valuesObject: {replicas: 2, adminPassword: y}}}}"),
        [
            "spec.source.helm.values changed hidden",
            "spec.source.helm.valuesObject.adminPassword changed hidden",
            "spec.source.helm.valuesObject.replicas changed 1 2",
        ],
    ),
    "a-secret-as-the-key-of-an-item": (
        part("taints: [{key: hf_0123456789ab, value: a}]"),
        part("taints: [{key: hf_0123456789ab, value: b}]"),
        ['taints[key="(hidden)"].value changed "a" "b"'],
    ),
    "a-secret-as-a-key": (
        part("labels: {}"),
        part("labels: {hf_0123456789ab: 1}"),
        ['labels["(hidden)"] added 1'],
    ),
    "a-sidecar-with-secrets": (
        part("containers: []"),
        part("containers: [{name: s, args: [--token, abc], env: [{name: DB_PASS, value: x}], image: a}]"),
        [
            'containers[name=s] added {"args":["--token","(hidden)"],'
            '"env":[{"name":"DB_PASS","value":"(hidden)"}],"image":"a","name":"s"}'
        ],
    ),
}


@pytest.mark.parametrize(("before", "after", "said"), SIDES.values(), ids=SIDES)
def test_an_object_with_secrets_before_and_after(before: Any, after: Any, said: list[str]) -> None:
    assert lines(before, after) == said


def test_a_concealed_object_is_shown_with_everything_else_and_isn_t_changed() -> None:
    obj = part("{spec: {args: [a, --token, b], automountServiceAccountToken: false, env: {TOKEN: x, LEVEL: 1}}}")
    kept = copy.deepcopy(obj)
    assert reveal(conceal(obj)) == {
        "spec": {
            "args": ["a", "--token", "(hidden)"],
            "automountServiceAccountToken": False,
            "env": {"TOKEN": "(hidden)", "LEVEL": 1},
        }
    }
    assert obj == kept


def test_which_arguments_hold_a_credential() -> None:
    words = ["serve", "--api-key", "a", "b", "--port", "1", "--token=$(T)", "--api-key=c", "sh -c 'x --token d'"]
    assert find_credentials(words) == (2, 3, 7, 8)


# Each place that a secret can be planted at, as an object around it.
def _pod(container: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Pod", "spec": {"containers": [{"name": "c", **container}]}}


def _map(key: str, text: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {key: text}}


PLACES = {
    "secret-data": lambda s: {**SECRET, "data": {"k": base64.b64encode(s.encode()).decode(), "plain": s}},
    "secret-string-data": lambda s: {**SECRET, "stringData": {"k": s}},
    "secret-odd": lambda s: {**SECRET, "data": [s], "stringData": {"a": {"b": s}}},
    "variable": lambda s: _pod({"env": [{"name": "SOME_API_KEY", "value": s}]}),
    "variable-weak-name": lambda s: _pod({"env": [{"name": "OPENAI_KEY", "value": s}]}),
    "variables-by-name": lambda s: {"spec": {"env": {"DB_PASSWORD": s}}},
    "argument-two-words": lambda s: _pod({"args": ["serve", "--api-key", s, "--port=1"]}),
    "argument-many-words": lambda s: _pod({"args": ["serve", "--api-key", "x", s, "--port=1"]}),
    "argument-one-word": lambda s: _pod({"command": ["serve", f"--api-key={s}"]}),
    "argument-in-a-script": lambda s: _pod({"command": ["sh", "-c", f"exec vllm serve m --api-key {s} --port 1"]}),
    "argument-in-a-script-quoted": lambda s: _pod({"args": [f"vllm --api-key='{s}' --port 1"]}),
    "assignment-in-a-script": lambda s: _pod({"args": ["sh", "-c", f"API_KEY={s} vllm serve"]}),
    "header-argument": lambda s: _pod({"args": ["curl", "-H", f"Authorization: Bearer {s}"]}),
    "url": lambda s: _pod({"env": [{"name": "DATABASE", "value": f"postgres://u:{s}@db:5432/x?ssl=1"}]}),
    "url-in-an-annotation": lambda s: {"metadata": {"annotations": {"a": f"see amqp://u:{s}@host/v and more"}}},
    "bearer": lambda s: _map("conf", f"proxy_set_header X 'bearer {s}1';"),
    "basic": lambda s: _map("conf", f"auth = Basic {base64.b64encode(f'u:{s}'.encode()).decode()}"),
    **{
        f"shape-{prefix}": lambda s, prefix=prefix: _map("note", f"used {prefix}{s.replace('-', '0') * 3} here")
        for prefix in ("hf_", "ghp_", "gho_", "github_pat_", "glpat-", "sk-", "nvapi-", "xoxb-", "xoxp-", "eyJ")
    },
    "shape-aws": lambda s: _map("note", f"id AKIA{s.replace('-', '0').upper()}"),
    "private-key": lambda s: _map("n", f"-----BEGIN EC PRIVATE KEY-----\n{s}\n-----END EC PRIVATE KEY-----\n"),
    "applied-before": lambda s: {
        "metadata": {
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps(
                    {"apiVersion": "v1", "kind": "X", "data": {"whatever": s}}
                )
            }
        }
    },
    "config-map-key": lambda s: _map("db-password", s),
    "config-map-yaml": lambda s: _map("app.yaml", f"level: info\nauth:\n  clientSecret: {s}\n  port: 1\n"),
    "config-map-json": lambda s: _map("app.json", json.dumps({"token": s, "port": 1})),
    "config-map-manifest": lambda s: _map("pod.yaml", yaml.safe_dump(_pod({"env": [{"name": "TOKEN", "value": s}]}))),
    "helm-values": lambda s: {"kind": "Application", "spec": {"source": {"helm": {"values": f"whatever: {s}\n"}}}},
    "helm-sources": lambda s: {"kind": "Application", "spec": {"sources": [{"helm": {"values": f"a: {s}\n"}}]}},
    "helm-object": lambda s: {"spec": {"source": {"helm": {"valuesObject": {"admin": {"password": s}}}}}},
    "helm-parameter": lambda s: {"spec": {"source": {"helm": {"parameters": [{"name": "a.token", "value": s}]}}}},
    "name-of-an-item": lambda s: {"spec": {"env": [{"name": f"hf_{s.replace('-', '0') * 2}"}]}},
    "cel-of-a-class": lambda s: {
        "spec": {"selectors": [{"cel": {"expression": f'device.x == "ghp_{s.replace("-", "0") * 2}"'}}]}
    },
    "key-of-a-map": lambda s: {"metadata": {"labels": {f"glpat-{s}": "x"}}},
    "word-of-a-list": lambda s: {"spec": {"finalizers": [f"glpat-{s}"]}},
}
# Without vowels: no six of them are a part of what is said beside the secret.
ALPHABET = "BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz23456789-"
SECRETS = st.text(ALPHABET, min_size=9, max_size=24).map(lambda text: f"Z{text}9")


def leaked(secret: str, text: str) -> list[str]:
    """Parts of a secret, of six characters, that stand in a text."""
    forms = (secret, base64.b64encode(secret.encode()).decode(), secret.replace("-", "0"), secret.upper())
    return [form[at : at + 6] for form in forms for at in range(len(form) - 5) if form[at : at + 6] in text]


@pytest.mark.parametrize("place", PLACES)
@given(one=SECRETS, other=SECRETS, sides=st.sampled_from(("before", "after", "both", "equal", "whole")))
@settings(max_examples=40, deadline=None)
def test_no_part_of_a_planted_secret_is_told(place: str, one: str, other: str, sides: str) -> None:
    plant = PLACES[place]
    empty = {key: part for key, part in plant("").items() if key in ("apiVersion", "kind")}
    before, after = {
        "before": (plant(one), empty),
        "after": (empty, plant(other)),
        "both": (plant(one), plant(other)),
        "equal": ({**plant(one), "a": 1}, {**plant(one), "a": 2}),
        "whole": ({"x": [plant(one)]} if "secret" not in place else plant(one), {"x": []}),
    }[sides]
    changes = list_field_changes(before, after)
    text = msgspec.json.encode(changes).decode()
    assert [leak for secret in (one, other) for leak in leaked(secret, text)] == []
    if sides == "both" and one != other:
        assert changes != ()
