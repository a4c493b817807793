"""Health scripts: what they say of objects as clusters have them, and that no status whatever makes one throw."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from health_cases import CASES
from health_scripts import GLOBALS, KINDS, ONLY_GOPHER_LUA, TABLE_FUNCTIONS, judge, read_script, run_script
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_objects import list_odd_objects

from crd_schemas import object_errors
from fleet import ROOT
from needs import needs_go_program

ORACLE = ROOT / "tests" / "oracle" / "lua"
RECORDED = Path(__file__).parent / "data" / "health.jsonl.gz"  # its first line says how it was made

TABLE = {f"{kind}-{rule}": (kind, *case) for kind, cases in CASES.items() for rule, case in cases.items()}


def test_every_script_has_cases() -> None:
    assert tuple(CASES) == KINDS


@pytest.mark.parametrize(("kind", "obj", "expected"), TABLE.values(), ids=TABLE)
def test_says(kind: str, obj: Any, expected: dict[str, str]) -> None:
    before = copy.deepcopy(obj)
    assert judge(kind, obj) == expected
    assert obj == before


# GPUCluster's schema was written by hand and has no status.
@pytest.mark.parametrize(("kind", "obj", "expected"), TABLE.values(), ids=TABLE)
def test_status_is_as_its_schema_has_it(kind: str, obj: Any, expected: dict[str, str]) -> None:
    errors = object_errors(obj, "1.37")
    assert [error for error in errors if error.startswith(("status", "metadata"))] == []


# --- whatever the status -------------------------------------------------------------------------------------------

# Names and values that scripts ask for, so that a random status gets somewhere.
_WORDS = """
Accepted ResolvedRefs Ready Error Progressing UpdateInProgress Available True False Unknown ready notReady ignored
ReconcileFailed Status pods x
"""
_FIELDS = """
conditions type status reason observedGeneration allocation devices results bindingFailureConditions driver pool device
shareID reservedFor readyReplicas updatedReplicas parents parentRef kind bindings state hard used typeChecking
expressionWarnings ownerReferences generation x 1
"""
WORDS, FIELDS = _WORDS.split(), _FIELDS.split()
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.sampled_from(WORDS) | st.text()
ANY = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | st.text(), below, max_size=6),
    max_leaves=40,
)
OBJECTS = st.dictionaries(st.sampled_from(("status", "metadata", "spec")), ANY)


@pytest.mark.parametrize("kind", KINDS)
def test_never_throws_and_is_brief(kind: str) -> None:
    @settings(deadline=None)
    @given(OBJECTS)
    def check(obj: Any) -> None:
        check_answer(kind, obj)

    check()


def test_odd_values_anywhere_change_nothing_of_that() -> None:
    for kind, obj in list_odd_objects():
        check_answer(kind, obj)


def check_answer(kind: str, obj: Any) -> None:
    answer = judge(kind, obj)
    assert answer.keys() == {"status", "message"}, answer
    message = answer["message"]
    assert len(message) < 300
    assert message.isascii()
    assert message.isprintable()
    # Only a workload is waited for, and only where its status says of which generation it is.
    assert answer["status"] in (
        ("Healthy", "Progressing") if kind.endswith("LeaderWorkerSet") else ("Healthy", "Degraded")
    )
    if answer["status"] == "Progressing":
        assert "observedGeneration" in json.dumps(obj["status"])
    # A claim that no pod owns was applied, in a wave before its workload: it holds no sync up.
    if kind.endswith("ResourceClaim") and not _has_owner(obj):
        assert answer["status"] == "Healthy"


def _has_owner(obj: Any) -> bool:
    metadata = obj.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return isinstance(owners, list) and any(isinstance(owner, (dict, list)) for owner in owners)


def test_text_of_the_object_is_never_repeated() -> None:
    for kind, obj, _ in TABLE.values():
        assert "s3cret" not in judge(kind, obj)["message"]


RECORDS_GLOBALS = """
local used, names = {}, {}
local recording = { __index = function(_, name) used[name] = true return _G[name] end }
setfenv(function() %s end, setmetatable({}, recording))()
for name in pairs(used) do names[#names + 1] = name end
table.sort(names)
return { status = "", message = table.concat(names, " ") }
"""


def test_scripts_read_nothing_but_the_object() -> None:
    """Neither a clock nor a library: an answer follows from the object alone."""
    used = {
        name
        for kind, obj in list_odd_objects()
        for name in run_script(RECORDS_GLOBALS % read_script(kind), obj)["message"].split()
    }
    assert used == {"ipairs", "obj", "pairs", "table", "type"}


# --- Argo CD's own Lua ---------------------------------------------------------------------------------------------

LISTS = """
local names = {}
for name in pairs(%s) do names[#names + 1] = name end
table.sort(names)
return { status = "Healthy", message = table.concat(names, " ") }
"""


def test_sandbox_has_what_argo_cd_opens() -> None:
    assert run_script(LISTS % "_G", {})["message"].split() == GLOBALS
    assert run_script(LISTS % "table", {})["message"].split() == list(TABLE_FUNCTIONS)
    assert "index a string value" in run_script("return ('x'):rep(3)", {})["error"]
    assert "module 'string' not found" in run_script("return require('string')", {})["error"]


def test_answers_are_those_that_gopher_lua_gave() -> None:
    recorded = read_recorded()
    questions = list(list_odd_objects())
    assert len(recorded) == len(questions), "record again: tests/oracle/lua/record.py"
    differing = [
        (kind, obj) for (kind, obj), answer in zip(questions, recorded, strict=True) if judge(kind, obj) != answer
    ]
    assert differing == []


@pytest.mark.oracle
def test_gopher_lua_says_the_same_now(tmp_path: Path) -> None:
    answers = ask(tmp_path, [(read_script(kind), obj) for kind, obj in list_odd_objects()])
    assert answers == read_recorded()


@pytest.mark.oracle
def test_gopher_lua_opens_the_same(tmp_path: Path) -> None:
    names, functions, method, clock = ask(
        tmp_path,
        [
            (LISTS % "_G", {}),
            (LISTS % "table", {}),
            ("return ('x'):rep(3)", {}),
            ("return { status = type(os), message = type(require('os').time) }", {}),
        ],
    )
    assert sorted(names["message"].split()) == sorted((*GLOBALS, *ONLY_GOPHER_LUA))
    assert functions["message"].split() == list(TABLE_FUNCTIONS)
    assert "attempt to index a non-table object(string)" in method["error"]
    assert clock == {"status": "nil", "message": "function"}


@pytest.mark.oracle
def test_large_objects_are_done_in_argo_cds_second(tmp_path: Path) -> None:
    many = 1000  # the API takes 32 devices, and 256 users
    devices = [
        {"driver": "d", "pool": "p", "device": f"{number}", "conditions": [{"type": "c", "status": "False"}] * 4}
        for number in range(many)
    ]
    names = [f"{number}" for number in range(many)]
    claim = {
        "status": {
            "allocation": {"devices": {"results": [{**devices[0], "bindingFailureConditions": names}, *devices]}},
            "devices": devices,
            "reservedFor": [{}] * many,
        }
    }
    parents = {"status": {"parents": [{"conditions": [{"type": "x", "status": "True"}] * 8}] * many}}
    assert ask(
        tmp_path,
        [
            (read_script("resource.k8s.io_ResourceClaim"), claim),
            (read_script("inference.networking.k8s.io_InferencePool"), parents),
        ],
    ) == [
        {"status": "Healthy", "message": f"allocated: devices {many + 1}, reserved for {many}"},
        {"status": "Healthy", "message": "nobody has said yet whether they accept it"},
    ]


def ask(folder: Path, questions: list[tuple[str, Any]]) -> list[dict[str, str]]:
    """What gopher-lua returns for scripts and objects."""
    program = needs_go_program(ORACLE, folder / "lua")
    lines = "".join(json.dumps({"script": script, "object": obj}) + "\n" for script, obj in questions)
    ended = subprocess.run(program, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def read_recorded() -> list[dict[str, str]]:
    """gopher-lua's answers, for list_odd_objects() in its order."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        next(lines)
        return [json.loads(line) for line in lines]
