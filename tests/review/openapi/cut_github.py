"""Cut the operations that `poolwright comment` uses out of GitHub's OpenAPI description.

    npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
    python tests/review/openapi/cut_github.py package/generated/api.github.com.json

That package, MIT, has the description of github/rest-api-description, MIT too, with a field `x-octokit` added.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OPERATIONS = {
    "/user": ("get",),
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ("get", "post"),
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ("patch", "delete"),
    "/repos/{owner}/{repo}/pulls": ("get",),
}
WORDS = ("description", "summary", "title", "externalDocs", "tags", "x-github", "x-octokit", "example", "deprecated")


def main() -> None:
    whole = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    paths = {path: {method: trim(whole["paths"][path][method]) for method in OPERATIONS[path]} for path in OPERATIONS}
    components: dict[str, dict[str, Any]] = {}
    todo = list(references(paths))
    while todo:
        _, _, kind, name = todo.pop().split("/")
        if name not in components.setdefault(kind, {}):
            found = whole["components"][kind][name]
            components[kind][name] = found if kind == "examples" else trim(found)
            todo += references(components[kind][name])
    cut = {
        "x-source": "npm package @octokit/openapi 23.0.2, generated/api.github.com.json; cut by cut_github.py; MIT",
        "openapi": whole["openapi"],
        "paths": paths,
        "components": {kind: dict(sorted(components[kind].items())) for kind in sorted(components)},
    }
    text = json.dumps(cut, indent=1, ensure_ascii=False) + "\n"
    Path(__file__).with_name("github.json").write_text(text, encoding="utf-8")


def trim(value: Any, *, is_names: bool = False) -> Any:
    """Without what is for readers. Below `properties` keys are names, and none of them is left out."""
    if isinstance(value, list):
        return [trim(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: trim(one, is_names=key == "properties" and not is_names)
        for key, one in value.items()
        if is_names or key not in WORDS
    }


def references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for one in value for found in references(one)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for one in value.values() for found in references(one)]


if __name__ == "__main__":
    main()
