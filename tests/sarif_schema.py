"""The schema of SARIF 2.1.0, as it was published."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs

_SCHEMA = json.loads((Path(__file__).parent / "specs/data/sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
for _holder in ("run", "toolComponent"):  # their stray bracket is no regular expression; our logs have no `language`
    del _SCHEMA["definitions"][_holder]["properties"]["language"]["pattern"]
SARIF = jsonschema_rs.Draft7Validator(_SCHEMA, validate_formats=True)
