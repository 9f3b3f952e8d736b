// Health of objects by the rules of others: kstatus by its own library, Argo CD's by the Lua that runs in it.
// Reads one JSON value from standard input, {"objects": [...], "health": "Lua"}; writes a list of {kstatus, message, argo}.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type input struct {
	Objects []map[string]any `json:"objects"`
	Health  string           `json:"health"`
}

type verdict struct {
	Kstatus string `json:"kstatus"`
	Message string `json:"message"`
	Argo    string `json:"argo"`
}

func main() {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail(err)
	}
	verdicts := []verdict{}
	for _, object := range given.Objects {
		result, err := status.Compute(&unstructured.Unstructured{Object: whole(object).(map[string]any)})
		if err != nil {
			fail(err)
		}
		health, err := argoHealth(given.Health, object)
		if err != nil {
			fail(err)
		}
		verdicts = append(verdicts, verdict{string(result.Status), result.Message, health})
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		fail(err)
	}
}

// Argo CD gives the script the object as `obj` and takes a table with `status`.
func argoHealth(script string, object map[string]any) (string, error) {
	if script == "" {
		return "", nil
	}
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, object))
	if err := state.DoString(script); err != nil {
		return "", err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", fmt.Errorf("the script returned no table")
	}
	return table.RawGetString("status").String(), nil
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for name, field := range value {
			table.RawSetString(name, luaValue(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case string:
		return lua.LString(value)
	case float64:
		return lua.LNumber(value)
	case bool:
		return lua.LBool(value)
	default:
		return lua.LNil
	}
}

// Unstructured objects have whole numbers as int64.
func whole(value any) any {
	switch value := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name, field := range value {
			fields[name] = whole(field)
		}
		return fields
	case []any:
		items := []any{}
		for _, item := range value {
			items = append(items, whole(item))
		}
		return items
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
		return value
	default:
		return value
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
