// Reads a stream of YAML documents, each ended by a line of three hyphens, and prints one line of JSON per document: what
// sigs.k8s.io/yaml, by which Argo CD reads what a plugin printed, makes of it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		value, err := yaml.YAMLToJSON(document)
		if err != nil {
			value, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		fmt.Println(string(value))
	}
}
