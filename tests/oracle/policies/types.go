package main

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What the API server's type checker says of a policy; it writes that into the policy's status.
type typesAnswer struct {
	Cluster  string            `json:"cluster"`
	Policy   string            `json:"policy"`
	Kinds    []string          `json:"kinds"` // whose schemas it was given; it passes over the others
	Warnings map[string]string `json:"warnings"`
}

// definitions resolve schemas by the name that the API server publishes them under: group, version and kind.
type definitions struct {
	byName map[string]*spec.Schema
	given  map[string]bool
}

func (d definitions) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	for name, definition := range d.byName {
		if isOf(definition, kind) {
			d.given[strings.TrimPrefix(kind.GroupVersion().String()+"/"+kind.Kind, "/")] = true
			return resolver.PopulateRefs(func(reference string) (*spec.Schema, bool) {
				found, ok := d.byName[strings.TrimPrefix(reference, "#/definitions/")]
				return found, ok
			}, name)
		}
	}
	return nil, resolver.ErrSchemaNotFound
}

func isOf(definition *spec.Schema, kind schema.GroupVersionKind) bool {
	names, _ := definition.Extensions["x-kubernetes-group-version-kind"].([]any)
	return slices.ContainsFunc(names, func(name any) bool {
		parts, _ := name.(map[string]any)
		return parts["group"] == kind.Group && parts["version"] == kind.Version && parts["kind"] == kind.Kind
	})
}

// checkTypes asks the type checker. It doesn't report variables and conditions itself, so they are asked about one by one.
func checkTypes(name string, policy *admissionv1.ValidatingAdmissionPolicy, byName map[string]*spec.Schema) typesAnswer {
	schemas := definitions{byName: byName, given: map[string]bool{}}
	checker := &validating.TypeChecker{SchemaResolver: schemas, RestMapper: mapper}
	given := typesAnswer{Cluster: name, Policy: policy.Name, Warnings: map[string]string{}}
	for _, warning := range checker.Check(policy) {
		given.Warnings[warning.FieldRef] = warning.Warning
	}
	others := map[string]string{}
	for _, variable := range policy.Spec.Variables {
		others["spec.variables["+variable.Name+"]"] = variable.Expression
	}
	for _, condition := range policy.Spec.MatchConditions {
		others["spec.matchConditions["+condition.Name+"]"] = condition.Expression
	}
	context := checker.CreateContext(policy)
	for field, expression := range others {
		if results := checker.CheckExpression(context, expression); len(results) > 0 {
			given.Warnings[field] = results.String()
		}
	}
	given.Kinds = sortedKeys(schemas.given)
	return given
}
