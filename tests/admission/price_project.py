"""A project of one envelope, and a model beside it, to price."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from poolwright.admission.report.price_schema import price_schema
from run_poolwright import Ran, run
from small_project import PLACEMENT, POOL, PROJECT, STACK

MODELS = yaml.safe_load((Path(__file__).parent / "models.yaml").read_text("utf-8"))
LLAMA = json.dumps(MODELS["meta-llama/Llama-3.1-8B"])
ENVELOPE = """\
apiVersion: poolwright.dev/v1alpha1
kind: Envelope
metadata: {name: chat, version: 1.0.0}
spec:
  owner: team-chat
  namespace: chat
  computeClass: bf16
  replicaBehavior: stable
  model:
    name: example.com/llama
    digest: sha256:96226d68118a519aa109ca4b90aeb897ea96cfa397ef2c5ba732925938d5b253
    source: {persistentVolumeClaim: {claimName: models, path: llama}}
    configPath: models/llama/config.json
  load: {contextTokens: 8192, concurrency: 16, batch: {maxSequences: 64, maxTokens: 8192}}
  startup: {timeout: 15m}
  engine: {type: vllm}
"""
FILES = {
    "poolwright.yaml": PROJECT,
    "specs/stack.yaml": STACK.replace("version: 0.33.0", "version: 0.19.0"),
    "specs/pool.yaml": POOL,
    "specs/place.yaml": PLACEMENT,
    "specs/envelope.yaml": ENVELOPE,
    "models/llama/config.json": LLAMA,
    "llama/config.json": LLAMA,
}
H100, VLLM = "--device=h100-sxm5-80gb", "--engine=vllm@0.19"
Change = tuple[str, str, str]  # a file, a text of it, another instead; no text: the whole file, or a new one


def write(folder: Path, *changes: Change) -> Path:
    files = dict(FILES)
    for path, old, new in changes:
        assert not old or old in files[path], old
        files[path] = files[path].replace(old, new) if old else new
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", errors="surrogatepass")
    return folder


def price(*arguments: str, folder: Path) -> Ran:
    return run("price", *arguments, folder=folder)


def read(*arguments: str, folder: Path) -> dict[str, Any]:
    """The JSON of it, which the published schema describes."""
    ran = price(*arguments, "--format=json", folder=folder)
    assert (ran.code in (0, 1), ran.stderr) == (True, "")
    document: dict[str, Any] = json.loads(ran.stdout)
    jsonschema_rs.validator_for(price_schema()).validate(document)
    return document
