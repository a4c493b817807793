// Asks the admission code of Kubernetes itself what ValidatingAdmissionPolicies say of requests.
//
//	go run . < cases.json > answers.jsonl
//
// The plugin is upstream's own, with its policy source, matcher, dispatcher, parameters and CEL; only the clients behind
// its informers are fakes that hold the objects of a cluster. cases.json is one document:
//
//	{"clusters": {NAME: {"policies": [...], "bindings": [...], "params": [...], "namespaces": [...]}},
//	 "definitions": {NAME: OpenAPI schema},
//	 "cases": [{"id", "cluster", "operation", "namespace", "object", "oldObject", "subresource", "user", "groups"}]}
//
// First there is a line per cluster and policy from the type checker (types.go), then one per case, in order. What the
// API server leaves to chance is here in full: with several policies it asks them in the random order of a map, and only
// the first that finds something gets into the audit log. So each policy is also asked alone: `audit` has what each of
// them writes if it is the first. `messages` has every refusal that some order of the parameters gives.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Parameters come in the order of a map of up to eight slots: the rarest first one of two comes once in eight times.
const repeats = 200

const auditKey = "validation.policy.admission.k8s.io/validation_failure"

type questions struct {
	Clusters    map[string]cluster      `json:"clusters"`
	Definitions map[string]*spec.Schema `json:"definitions"`
	Cases       []question              `json:"cases"`
}

type cluster struct {
	Policies   []json.RawMessage `json:"policies"`
	Bindings   []json.RawMessage `json:"bindings"`
	Params     []json.RawMessage `json:"params"`
	Namespaces []json.RawMessage `json:"namespaces"`
}

type question struct {
	ID          string          `json:"id"`
	Cluster     string          `json:"cluster"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	Namespace   string          `json:"namespace"`
	Object      json.RawMessage `json:"object"`
	OldObject   json.RawMessage `json:"oldObject"`
	User        string          `json:"user"`
	Groups      []string        `json:"groups"`
}

type answer struct {
	ID       string                     `json:"id"`
	Decision string                     `json:"decision"`           // allowed, denied
	Code     int32                      `json:"code,omitempty"`     // HTTP's, of a refusal
	Messages []string                   `json:"messages,omitempty"` // sorted
	Warnings []string                   `json:"warnings,omitempty"` // sorted
	Audit    map[string]json.RawMessage `json:"audit,omitempty"`    // by policy
}

func main() {
	log.SetFlags(0)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	var asked questions
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	check(decoder.Decode(&asked))
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	judges := map[string]*judge{}
	for _, name := range sortedKeys(asked.Clusters) {
		objects := decodeCluster(asked.Clusters[name])
		for _, policy := range objects.policies {
			check(encoder.Encode(checkTypes(name, policy, asked.Definitions)))
		}
		judges[name] = newJudge(objects)
	}
	for _, one := range asked.Cases {
		given, err := judges[one.Cluster].answer(one)
		if err != nil {
			log.Fatalf("%s: %v", one.ID, err)
		}
		check(encoder.Encode(given))
	}
	check(out.Flush())
}

// A judge has a plugin with all policies of a cluster, and one with each of them alone.
type judge struct {
	all   admission.ValidationInterface
	alone map[string]admission.ValidationInterface
}

func newJudge(objects clusterObjects) *judge {
	made := &judge{all: startPlugin(objects), alone: map[string]admission.ValidationInterface{}}
	for _, policy := range objects.policies {
		made.alone[policy.Name] = startPlugin(objects.only(policy.Name))
	}
	return made
}

func (j *judge) answer(asked question) (answer, error) {
	given := answer{ID: asked.ID, Decision: "allowed", Audit: map[string]json.RawMessage{}}
	var warnings []string
	for name, plugin := range j.alone {
		found, err := ask(plugin, asked)
		if err != nil {
			return given, err
		}
		warnings = append(warnings, found.warnings...)
		if found.audit != "" {
			given.Audit[name] = json.RawMessage(found.audit)
		}
	}
	slices.Sort(warnings)
	seen := map[string]bool{}
	for range repeats {
		found, err := ask(j.all, asked)
		if err != nil {
			return given, err
		}
		slices.Sort(found.warnings)
		if !slices.Equal(found.warnings, warnings) {
			return given, fmt.Errorf("all policies warn of %q, and alone of %q", found.warnings, warnings)
		}
		if (found.audit == "") != (len(given.Audit) == 0) {
			return given, fmt.Errorf("all policies audit %q, and alone %v", found.audit, given.Audit)
		}
		if found.refusal == nil {
			break
		}
		given.Decision, given.Code = "denied", found.refusal.ErrStatus.Code
		seen[found.refusal.Error()] = true
	}
	given.Messages, given.Warnings = sortedKeys(seen), warnings
	return given, nil
}

type found struct {
	refusal  *apierrors.StatusError // nil: allowed
	warnings []string
	audit    string // JSON; empty: nothing
}

func (f *found) AddWarning(_, text string) { f.warnings = append(f.warnings, text) }

// ask sends one request through a plugin, as the API server's handlers do.
func ask(plugin admission.ValidationInterface, asked question) (*found, error) {
	given := &found{}
	ctx := audit.WithAuditContext(warning.WithWarningRecorder(context.Background(), given))
	if err := audit.AuditContextFrom(ctx).Init(audit.RequestAuditConfig{Level: auditinternal.LevelMetadata}, nil); err != nil {
		return nil, err
	}
	request, err := buildRequest(asked)
	if err != nil {
		return nil, err
	}
	err = plugin.Validate(ctx, request, interfaces)
	if err != nil && !errors.As(err, &given.refusal) {
		return nil, err
	}
	for key, value := range audit.AuditContextFrom(ctx).GetEventAnnotations() {
		if key != auditKey {
			return nil, fmt.Errorf("unknown audit annotation %s", key)
		}
		given.audit = value
	}
	return given, nil
}

func buildRequest(asked question) (admission.Attributes, error) {
	object, err := decodeOptional(asked.Object)
	if err != nil {
		return nil, err
	}
	old, err := decodeOptional(asked.OldObject)
	if err != nil {
		return nil, err
	}
	either := object
	if either == nil {
		either = old
	}
	kind := either.GetObjectKind().GroupVersionKind()
	accessor, err := meta.Accessor(either)
	if err != nil {
		return nil, err
	}
	if accessor.GetNamespace() != asked.Namespace {
		return nil, fmt.Errorf("the object is of namespace %q, the request of %q", accessor.GetNamespace(), asked.Namespace)
	}
	return admission.NewAttributesRecord(object, old, kind, asked.Namespace, accessor.GetName(),
		resourceOf(kind), asked.Subresource, admission.Operation(asked.Operation), nil, false,
		&user.DefaultInfo{Name: asked.User, Groups: asked.Groups}), nil
}

func decodeOptional(text json.RawMessage) (runtime.Object, error) {
	if len(text) == 0 {
		return nil, nil
	}
	return decode(text)
}

func sortedKeys[V any](from map[string]V) []string {
	keys := make([]string, 0, len(from))
	for key := range from {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
