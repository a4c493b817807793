// Asks Kubernetes itself what a device selector gives on a device, as its scheduler evaluates it.
//
//	go run . < questions.jsonl > answers.jsonl
//
// A question is {"expression": "...", "device": {"driver": "...", "attributes": {...}, "capacity": {...}}}, the device
// as in a ResourceSlice. An answer is {"outcome": "true|false|error-compile|error-runtime", "message": "...", "cost": 4}.
// Maps are walked in no fixed order, so each question is asked several times; where the cost differs, it is -1.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

const repeats = 6

type question struct {
	Expression string `json:"expression"`
	Device     struct {
		Driver                   string                                                   `json:"driver"`
		AllowMultipleAllocations *bool                                                    `json:"allowMultipleAllocations"`
		Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
		Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
	} `json:"device"`
}

type answer struct {
	Outcome string `json:"outcome"`
	Message string `json:"message,omitempty"`
	Cost    int64  `json:"cost"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(ask(asked)); err != nil {
			log.Fatal(err)
		}
	}
}

func ask(asked question) (given answer) {
	defer func() {
		if r := recover(); r != nil {
			given = answer{Outcome: "panic"}
		}
	}()
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	compiled := compiler.CompileCELExpression(asked.Expression, cel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return answer{Outcome: "error-compile", Message: compiled.Error.Detail}
	}
	device := cel.Device{
		Driver:                   asked.Device.Driver,
		AllowMultipleAllocations: asked.Device.AllowMultipleAllocations,
		Attributes:               asked.Device.Attributes,
		Capacity:                 asked.Device.Capacity,
	}
	for i := range repeats {
		next := evaluate(compiled, device)
		switch {
		case i == 0:
			given = next
		case next.Outcome != given.Outcome:
			return answer{Outcome: "unsteady"}
		case next.Cost != given.Cost:
			given.Cost = -1
		}
	}
	return given
}

func evaluate(compiled cel.CompilationResult, device cel.Device) answer {
	matches, details, err := compiled.DeviceMatches(context.Background(), device)
	cost := int64(0)
	if actual := details.ActualCost(); actual != nil {
		cost = int64(*actual)
	}
	switch {
	case err != nil:
		return answer{Outcome: "error-runtime", Message: err.Error(), Cost: cost}
	case matches:
		return answer{Outcome: "true", Cost: cost}
	default:
		return answer{Outcome: "false", Cost: cost}
	}
}
