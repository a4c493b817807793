// Reads one quantity text per line, each a JSON string, and prints one line of JSON per text: what
// k8s.io/apimachinery/pkg/api/resource makes of it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type answer struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"` // format, numeric or suffix; then nothing else follows

	Nano        string `json:"nano,omitempty"`  // the exact value in billionths
	Value       *int64 `json:"value,omitempty"` // Value(), which overflows beyond an int64
	Format      string `json:"format,omitempty"`
	String      string `json:"string,omitempty"`
	BinarySI    string `json:"binarySI,omitempty"`    // CanonicalizeBytes with this format
	DecimalSI   string `json:"decimalSI,omitempty"`   // CanonicalizeBytes with this format
	CmpPrevious *int   `json:"cmpPrevious,omitempty"` // Cmp with the last text before this one that was read
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	previous := resource.Quantity{}
	for in.Scan() {
		var text string
		check(json.Unmarshal(in.Bytes(), &text))
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			check(encoder.Encode(answer{Text: text, Error: kind(err)}))
			continue
		}
		check(encoder.Encode(describe(text, quantity, previous)))
		previous = quantity
	}
	check(in.Err())
	check(out.Flush())
}

// describe asks every question of a copy of its own: some methods change what the next one sees.
func describe(text string, quantity, previous resource.Quantity) answer {
	shown, valued, compared, other := quantity.DeepCopy(), quantity.DeepCopy(), quantity.DeepCopy(), previous.DeepCopy()
	value, cmp := valued.Value(), compared.Cmp(other)
	return answer{
		Text:        text,
		Nano:        nano(quantity.DeepCopy()),
		Value:       &value,
		Format:      string(quantity.Format),
		String:      shown.String(),
		BinarySI:    canonical(quantity.DeepCopy(), resource.BinarySI),
		DecimalSI:   canonical(quantity.DeepCopy(), resource.DecimalSI),
		CmpPrevious: &cmp,
	}
}

func canonical(quantity resource.Quantity, format resource.Format) string {
	quantity.Format = format
	number, suffix := quantity.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

func nano(quantity resource.Quantity) string {
	scaled := new(inf.Dec).Mul(quantity.AsDec(), inf.NewDec(1, -9))
	whole := new(inf.Dec).Round(scaled, 0, inf.RoundExact)
	if whole == nil {
		check(fmt.Errorf("%q is finer than a billionth", quantity.String()))
	}
	return whole.String()
}

func kind(err error) string {
	switch {
	case errors.Is(err, resource.ErrFormatWrong):
		return "format"
	case errors.Is(err, resource.ErrNumeric):
		return "numeric"
	case errors.Is(err, resource.ErrSuffix):
		return "suffix"
	}
	check(err)
	return ""
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "quantity oracle:", err)
		os.Exit(1)
	}
}
