"""The health scripts, run in Lua 5.1 with what Argo CD's own Lua has, and nothing else."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from lupa import lua51

from fleet import ROOT

Json = Any
Answer = dict[str, Any]  # status and message, or error

_SPEC = spec_from_file_location("write_argocd_cm", ROOT / "tools" / "write_argocd_cm.py")
assert _SPEC is not None
assert _SPEC.loader is not None
WRITER = module_from_spec(_SPEC)
_SPEC.loader.exec_module(WRITER)
KINDS: tuple[str, ...] = tuple(WRITER.SCRIPTS)

# What a script finds there: gopher-lua's libraries package, base and table, and what Argo CD sets itself.
_GLOBALS = """
_G _VERSION actionParams assert collectgarbage dofile error getfenv getmetatable ipairs load loadfile loadstring module
newproxy next obj package pairs pcall print rawequal rawget rawset require select setfenv setmetatable table tonumber
tostring type unpack xpcall
"""
GLOBALS = _GLOBALS.split()
TABLE_FUNCTIONS = ("concat", "getn", "insert", "maxn", "remove", "sort")
ONLY_GOPHER_LUA = ("_GOPHER_LUA_VERSION", "_printregs")

# Everything but what is named goes, and strings lose their methods. `require` reaches no more either.
_RESTRICT = """
function(names, functions)
  local kept, in_table = {}, {}
  for _, name in ipairs(names) do kept[name] = true end
  for _, name in ipairs(functions) do in_table[name] = true end
  getmetatable("").__index = nil
  for name in pairs(package.loaded) do
    if name ~= "_G" and name ~= "package" and name ~= "table" then package.loaded[name] = nil end
  end
  for _, loaders in ipairs({ package.loaders, package.preload }) do
    for name in pairs(loaders) do loaders[name] = nil end
  end
  for name in pairs(table) do
    if not in_table[name] then table[name] = nil end
  end
  for name in pairs(_G) do
    if not kept[name] then _G[name] = nil end
  end
end
"""


def run_script(text: str, obj: Json) -> Answer:
    """What a script returns for an object; of what goes wrong the kind, since each Lua says it in its own words."""
    lua = _runtime()
    scope = lua.globals()
    names = sorted(scope)
    scope["actionParams"], scope["obj"] = lua.table(), _convert(lua, obj)
    try:
        returned = lua.execute(text)
    except lua51.LuaError as error:
        return {"error": str(error)}
    finally:
        scope["actionParams"] = scope["obj"] = None
    assert sorted(scope) == names, "a script leaves a global behind"
    return {"status": returned["status"], "message": returned["message"]}


def judge(kind: str, obj: Json) -> Answer:
    """What the script of a kind says of an object."""
    return run_script(read_script(kind), obj)


@cache
def read_script(kind: str) -> str:
    """The whole script of a kind."""
    text: str = WRITER.read_script(kind)
    return text


@cache
def _runtime() -> lua51.LuaRuntime:
    lua = lua51.LuaRuntime(register_eval=False, register_builtins=False, unpack_returned_tuples=True)
    lua.eval(_RESTRICT)(lua.table_from(GLOBALS), lua.table_from(TABLE_FUNCTIONS))
    return lua


def _convert(lua: lua51.LuaRuntime, value: Json) -> Json:
    """A JSON value as Argo CD hands it over: numbers are floats, and an item that is null is left out of its list."""
    if isinstance(value, dict):
        return lua.table_from({name: _convert(lua, item) for name, item in value.items() if item is not None})
    if isinstance(value, list):
        return lua.table_from([_convert(lua, item) for item in value if item is not None])
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value
