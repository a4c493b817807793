// Reads one question per line and prints one line of JSON per question: what upstream makes of a node selector, of a
// pod's node affinity, and of a toleration of a node's taint.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

type question struct {
	Labels      map[string]string `json:"labels"`
	Selector    v1.NodeSelector   `json:"selector"`
	Taint       v1.Taint          `json:"taint"`
	Toleration  v1.Toleration     `json:"toleration"`
	Comparisons bool              `json:"comparisons"`
}

type answer struct {
	Selector  string `json:"selector"` // true, false or error
	Affinity  string `json:"affinity"`
	Tolerates bool   `json:"tolerates"`
}

func main() {
	klog.LogToStderr(false)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for in.Scan() {
		var asked question
		check(json.Unmarshal(in.Bytes(), &asked))
		check(encoder.Encode(judge(asked)))
	}
	check(in.Err())
	check(out.Flush())
}

func judge(asked question) answer {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: asked.Labels}}
	found := answer{Selector: "error"}
	if selector, err := nodeaffinity.NewNodeSelector(&asked.Selector); err == nil {
		found.Selector = fmt.Sprint(selector.Match(node))
	}
	matches, err := nodeaffinity.NewLazyErrorNodeSelector(&asked.Selector).Match(node)
	found.Affinity = fmt.Sprint(matches)
	if err != nil {
		found.Affinity = "error"
	}
	found.Tolerates = asked.Toleration.ToleratesTaint(klog.Background(), &asked.Taint, asked.Comparisons)
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
