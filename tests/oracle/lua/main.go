// Runs health scripts as Argo CD does: gopher-lua with the libraries package, base and table, and of os the functions
// time and date, which only require("os") gives; one second at most.
//
// Reads one line of JSON per run, {"script": TEXT, "object": OBJECT}, and prints one: what the script returned, or what
// went wrong.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type question struct {
	Script string `json:"script"`
	Object any    `json:"object"`
}

type answer struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	decoder := json.NewDecoder(in)
	for decoder.More() {
		var asked question
		check(decoder.Decode(&asked))
		check(out.Encode(run(asked)))
	}
}

func run(asked question) answer {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	open(state)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("actionParams", state.NewTable())
	state.SetGlobal("obj", convert(state, asked.Object))
	if err := state.DoString(asked.Script); err != nil {
		return answer{Error: err.Error()}
	}
	returned, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return answer{Error: "not a table but " + state.Get(-1).Type().String()}
	}
	status, isText := returned.RawGetString("status").(lua.LString)
	message, isAlsoText := returned.RawGetString("message").(lua.LString)
	if !isText || !isAlsoText {
		return answer{Error: "status or message is no text"}
	}
	return answer{Status: string(status), Message: string(message)}
}

func open(state *lua.LState) {
	clock := map[string]lua.LGFunction{"time": readClock, "date": readClock}
	libraries := []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
		// By the name of a table that is there already, as Argo CD does: it stays as it is, and there is no global os.
		{lua.OsLibName, func(state *lua.LState) int { state.RegisterModule(lua.TabLibName, clock); return 0 }},
	}
	for _, library := range libraries {
		call := lua.P{Fn: state.NewFunction(library.open), Protect: true}
		check(state.CallByParam(call, lua.LString(library.name)))
	}
	state.PreloadModule(lua.OsLibName, func(state *lua.LState) int {
		state.Push(state.SetFuncs(state.NewTable(), clock))
		return 1
	})
}

// readClock is what no script may do: an answer would depend on when it is asked.
func readClock(state *lua.LState) int {
	state.RaiseError("a health script asks for the time")
	return 0
}

// convert makes of a JSON value what Argo CD makes of it; an item that is null is left out of its list.
func convert(state *lua.LState, value any) lua.LValue {
	switch known := value.(type) {
	case bool:
		return lua.LBool(known)
	case float64:
		return lua.LNumber(known)
	case string:
		return lua.LString(known)
	case []any:
		list := state.CreateTable(len(known), 0)
		for _, item := range known {
			list.Append(convert(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(known))
		for name, item := range known {
			table.RawSetString(name, convert(state, item))
		}
		return table
	}
	return lua.LNil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "lua oracle:", err)
		os.Exit(1)
	}
}
