"""Write down what gopher-lua says of every object of the health scripts' tests: `python tests/oracle/lua/record.py`."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "argocd_files")]

from health_scripts import read_script  # noqa: E402
from odd_objects import list_odd_objects  # noqa: E402

RECORDED = HERE.parents[1] / "argocd_files" / "data" / "health.jsonl.gz"


def main() -> None:
    """Overwrites the recorded answers."""
    found = re.search(r"gopher-lua (v\S+)", (HERE / "go.mod").read_text(encoding="utf-8"))
    assert found is not None
    made = {"made": "python tests/oracle/lua/record.py", "by": f"github.com/yuin/gopher-lua {found[1]}"}
    lines = "".join(json.dumps({"script": read_script(kind), "object": obj}) + "\n" for kind, obj in list_odd_objects())
    answers = subprocess.run(
        ("go", "run", "."), cwd=HERE, input=lines, capture_output=True, text=True, check=True
    ).stdout
    # Without a time in the archive: the same answers are the same bytes.
    RECORDED.write_bytes(gzip.compress((json.dumps(made) + "\n" + answers).encode(), mtime=0))


if __name__ == "__main__":
    main()
