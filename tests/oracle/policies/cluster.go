package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	conversionsv1beta1 "k8s.io/dynamic-resource-allocation/api/v1beta1"
	conversionsv1beta2 "k8s.io/dynamic-resource-allocation/api/v1beta2"
)

// What the cluster serves and requests may be of.
var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "ReplicationController"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"},
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaim"},
	{Group: "resource.k8s.io", Version: "v1beta2", Kind: "ResourceClaim"},
	{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaimTemplate"},
	{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaimTemplate"},
	{Group: "resource.k8s.io", Version: "v1beta2", Kind: "ResourceClaimTemplate"},
	leaderWorkerSet,
}

var (
	deviceClass     = schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass"}
	leaderWorkerSet = schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}

	scheme     = newScheme()
	mapper     = newMapper()
	interfaces = newInterfaces()
	codecs     = serializer.NewCodecFactory(scheme, serializer.EnableStrict)
)

// newScheme has upstream's conversions between the versions of resource.k8s.io, which clients have for old servers.
func newScheme() *runtime.Scheme {
	made := runtime.NewScheme()
	check(clientscheme.AddToScheme(made))
	check(conversionsv1beta1.AddToScheme(made))
	check(conversionsv1beta2.AddToScheme(made))
	return made
}

func newMapper() meta.RESTMapper {
	made := meta.NewDefaultRESTMapper(nil)
	for _, kind := range kinds {
		made.Add(kind, meta.RESTScopeNamespace)
	}
	made.Add(deviceClass, meta.RESTScopeRoot)
	return made
}

// equivalents are the interfaces of a scheme that know which versions of a resource are served.
type equivalents struct {
	admission.ObjectInterfaces
	served runtime.EquivalentResourceMapper
}

func (e equivalents) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return e.served }

func newInterfaces() admission.ObjectInterfaces {
	served := runtime.NewEquivalentResourceRegistry()
	for _, kind := range kinds {
		served.RegisterKindFor(resourceOf(kind), "", kind)
	}
	return equivalents{admission.NewObjectInterfacesFromScheme(scheme), served}
}

// resourceOf is what a request with an object of a kind is about. Only Deployments are scaled here.
func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	if kind.Kind == "Scale" {
		return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	}
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return resource
}

// decode reads an object as the API server does, but refuses fields that it would leave out.
func decode(text json.RawMessage) (runtime.Object, error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if schema.FromAPIVersionAndKind(head.APIVersion, head.Kind) == leaderWorkerSet {
		object := &unstructured.Unstructured{}
		return object, object.UnmarshalJSON(text)
	}
	object, _, err := codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", head.APIVersion, head.Kind, err)
	}
	return object, nil
}

type clusterObjects struct {
	policies []*admissionv1.ValidatingAdmissionPolicy
	bindings []*admissionv1.ValidatingAdmissionPolicyBinding
	others   []runtime.Object
}

func decodeCluster(from cluster) (made clusterObjects) {
	made.policies = decodeAll[*admissionv1.ValidatingAdmissionPolicy](from.Policies)
	made.bindings = decodeAll[*admissionv1.ValidatingAdmissionPolicyBinding](from.Bindings)
	made.others = append(decodeAll[runtime.Object](from.Params), decodeAll[runtime.Object](from.Namespaces)...)
	return made
}

func decodeAll[T runtime.Object](texts []json.RawMessage) (made []T) {
	for _, text := range texts {
		object, err := decode(text)
		check(err)
		made = append(made, object.(T))
	}
	return made
}

// only has one policy and its bindings.
func (c clusterObjects) only(policy string) clusterObjects {
	made := clusterObjects{others: c.others}
	for _, one := range c.policies {
		if one.Name == policy {
			made.policies = append(made.policies, one)
		}
	}
	for _, one := range c.bindings {
		if one.Spec.PolicyName == policy {
			made.bindings = append(made.bindings, one)
		}
	}
	return made
}

// startPlugin gives upstream's plugin for the objects of a cluster once it has read them all.
func startPlugin(objects clusterObjects) admission.ValidationInterface {
	held := append([]runtime.Object{}, objects.others...)
	for _, policy := range objects.policies {
		held = append(held, policy)
	}
	for _, binding := range objects.bindings {
		held = append(held, binding)
	}
	client := fake.NewSimpleClientset(held...)
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin, err := validating.NewPlugin(nil)
	check(err)
	never := make(chan struct{})
	initializer.New(client, dynamicfake.NewSimpleDynamicClient(scheme), factory, authorizerfactory.NewAlwaysDenyAuthorizer(),
		utilfeature.DefaultFeatureGate, compatibility.DefaultBuildEffectiveVersion(), never, mapper).Initialize(plugin)
	check(plugin.ValidateInitialization())
	factory.Start(never)
	if !plugin.WaitForReady() {
		log.Fatal("upstream's plugin doesn't become ready")
	}
	deadline, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for informer, ready := range factory.WaitForCacheSync(deadline.Done()) {
		if !ready {
			log.Fatalf("upstream's informer of %v doesn't become ready", informer)
		}
	}
	return admission.WithAudit(plugin).(admission.ValidationInterface)
}
