// Asks Kubernetes itself whether it compiles a device selector, as its scheduler does (stored expressions).
//
//	go run . < questions.jsonl > answers.jsonl    {"expression": "..."} -> {"expression": "...", "ok": true}
//	go run . -functions > functions.txt           every function overload of the environment, one a line
//
// The recorded answers lie in tests/catalog/data; the tests need neither Go nor this program.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

type answer struct {
	Expression string `json:"expression"`
	OK         bool   `json:"ok"`
}

func main() {
	functions := flag.Bool("functions", false, "print the environment's functions instead")
	reasons := flag.Bool("reasons", false, "print upstream's error messages on stderr")
	flag.Parse()
	if *functions {
		printFunctions()
		return
	}
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var asked answer
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		result := compiler.CompileCELExpression(asked.Expression, cel.Options{DisableCostEstimation: true})
		if *reasons && result.Error != nil {
			fmt.Fprintf(os.Stderr, "%q: %s\n", asked.Expression, result.Error.Detail)
		}
		if err := out.Encode(answer{Expression: asked.Expression, OK: result.Error == nil}); err != nil {
			log.Fatal(err)
		}
	}
}

// printFunctions prints `id: (receiver).name(arguments) -> result` for each overload a selector can call.
func printFunctions() {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	env, err := base.Env(environment.StoredExpressions)
	if err != nil {
		log.Fatal(err)
	}
	var lines []string
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			var args []string
			for _, arg := range overload.ArgTypes() {
				args = append(args, arg.String())
			}
			receiver := ""
			if overload.IsMemberFunction() {
				receiver, args = fmt.Sprintf("(%s).", args[0]), args[1:]
			}
			lines = append(lines, fmt.Sprintf("%s: %s%s(%s) -> %s",
				overload.ID(), receiver, name, strings.Join(args, "; "), overload.ResultType()))
		}
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
}
