// Reports the health of objects as Argo CD does: with the built-in checks of its library, and with a check in Lua.
// Usage: argo-cd-health SCRIPT < objects as a JSON array. Prints a JSON array of {builtIn, custom}.
//
// The Lua engine and the sandbox are those of Argo CD 3.5. Its own package, util/lua, depends on about 1,400 packages.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type answer struct {
	BuiltIn *health.HealthStatus `json:"builtIn"`
	Custom  *health.HealthStatus `json:"custom"`
}

func main() {
	answers, err := answers(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answers(path string) ([]answer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&objects); err != nil {
		return nil, err
	}
	all := []answer{}
	for _, object := range objects {
		// As a client reads it: whole numbers are integers.
		one := &unstructured.Unstructured{}
		if err := one.UnmarshalJSON(object); err != nil {
			return nil, err
		}
		builtIn, err := health.GetResourceHealth(one, nil)
		if err != nil {
			return nil, err
		}
		custom, err := health.GetResourceHealth(one, script(text))
		if err != nil {
			return nil, err
		}
		all = append(all, answer{builtIn, custom})
	}
	return all, nil
}

// script is a health check of the ConfigMap argocd-cm.
type script string

// GetResourceHealth runs the script in the sandbox of Argo CD, which stops it after one second.
func (s script) GetResourceHealth(object *unstructured.Unstructured) (*health.HealthStatus, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	// Argo CD also opens a part of the library os. A script that needs it fails here.
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		call := lua.P{Fn: state.NewFunction(library.open), Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return nil, err
		}
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limit)
	state.SetGlobal("obj", luaValue(state, object.Object))
	if err := state.DoString(string(s)); err != nil {
		return nil, err
	}
	result, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return nil, fmt.Errorf("the script returns %s instead of a table", state.Get(-1).Type())
	}
	status := health.HealthStatusCode(lua.LVAsString(result.RawGetString("status")))
	switch status {
	case health.HealthStatusHealthy, health.HealthStatusProgressing, health.HealthStatusSuspended, health.HealthStatusDegraded:
		return &health.HealthStatus{Status: status, Message: lua.LVAsString(result.RawGetString("message"))}, nil
	}
	return nil, fmt.Errorf("the script returns the status %q", status)
}

// luaValue returns a value of JSON as Argo CD gives it to a script.
func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case int64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		table := state.CreateTable(len(value), 0)
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, item := range value {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	}
	return lua.LNil
}
