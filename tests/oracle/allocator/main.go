// Asks Kubernetes' own allocator what it makes of a case, as its scheduler's plugin asks it.
//
//	go run . < cases.jsonl > answers.jsonl         one case a line, one answer a line, in the same order
//	go run . -repeat 5 < cases.jsonl               every case five times: the distinct answers and how often each came
//	go run . -bench < world.json                   claim after claim over many nodes; how long that took
//
// One Kubernetes minor per build: `go build .` for the newest, or with the module file and the tag of an older one, as
// `go build -modfile=v135.mod -tags=dra135 .`. A case of another minor is refused.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// question is a case: what may be allocated on one node and what is already in use.
type question struct {
	ID       string                       `json:"id"`
	Minor    string                       `json:"minor"`
	Features map[string]bool              `json:"features"`
	Node     *v1.Node                     `json:"node"`
	Classes  []*resourceapi.DeviceClass   `json:"classes"`
	Slices   []*resourceapi.ResourceSlice `json:"slices"`
	Claims   []*resourceapi.ResourceClaim `json:"claims"`
	Held     []*resourceapi.ResourceClaim `json:"held"`
}

// answer is what one call of Allocate gave, without what differs from call to call (share IDs).
type answer struct {
	ID          string       `json:"id,omitempty"`
	Outcome     string       `json:"outcome"` // allocated, none, invalid-pools, error, timeout or panic
	Error       string       `json:"error,omitempty"`
	Allocations []allocation `json:"allocations,omitempty"` // one per claim
	Steps       *int64       `json:"steps"`                 // calls of allocateOne; null: not counted
	Channel     string       `json:"channel"`               // stable, incubating or experimental
	Times       int          `json:"times,omitempty"`       // with -repeat: how many runs gave it, steps aside
}

type repeated struct {
	ID   string   `json:"id"`
	Runs []answer `json:"runs"` // the most frequent first
}

type allocation struct {
	Results      []result         `json:"results"`
	Config       []config         `json:"config,omitempty"`
	NodeSelector *v1.NodeSelector `json:"nodeSelector,omitempty"`
}

type result struct {
	Request                  string                         `json:"request"`
	Driver                   string                         `json:"driver"`
	Pool                     string                         `json:"pool"`
	Device                   string                         `json:"device"`
	AdminAccess              *bool                          `json:"adminAccess,omitempty"`
	Tolerations              []resourceapi.DeviceToleration `json:"tolerations,omitempty"`
	BindingConditions        []string                       `json:"bindingConditions,omitempty"`
	BindingFailureConditions []string                       `json:"bindingFailureConditions,omitempty"`
	Shared                   bool                           `json:"shared,omitempty"` // it has a share ID
	ConsumedCapacity         map[string]string              `json:"consumedCapacity,omitempty"`
	SkipNodeOperations       []string                       `json:"skipNodeOperations,omitempty"`
}

type config struct {
	Source   string                                 `json:"source"`
	Requests []string                               `json:"requests,omitempty"`
	Opaque   *resourceapi.OpaqueDeviceConfiguration `json:"opaque,omitempty"`
}

// celCaches holds compiled expressions from case to case; upstream compiles them by these two features.
var celCaches = map[cel.Features]*cel.Cache{}

func main() {
	log.SetFlags(0)
	log.SetPrefix("allocator oracle: ")
	repeat := flag.Int("repeat", 1, "run every case so often and print the distinct answers")
	timeout := flag.Duration("timeout", 10*time.Second, "give up on a run of a case after this long")
	benchmark := flag.Bool("bench", false, "read one world and allocate its claims in order")
	flag.Parse()
	if *benchmark {
		bench()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		var said any
		if *repeat == 1 {
			said = ask(lines.Bytes(), *timeout)
		} else {
			said = askRepeatedly(lines.Bytes(), *timeout, *repeat)
		}
		check(encoder.Encode(said))
		check(out.Flush())
	}
	check(lines.Err())
}

func askRepeatedly(line []byte, timeout time.Duration, times int) repeated {
	var said repeated
	for range times {
		one := ask(line, timeout)
		said.ID, one.ID = one.ID, ""
		same := func(other answer) bool {
			one.Steps, one.Times = other.Steps, other.Times
			return reflect.DeepEqual(one, other)
		}
		steps := one.Steps
		index := slices.IndexFunc(said.Runs, same)
		if index < 0 {
			one.Steps, one.Times = steps, 0
			said.Runs = append(said.Runs, one)
			index = len(said.Runs) - 1
		}
		said.Runs[index].Times++
	}
	slices.SortStableFunc(said.Runs, func(a, b answer) int { return b.Times - a.Times })
	return said
}

// ask reads a case anew for every run: older allocators can change quantities of their input.
func ask(line []byte, timeout time.Duration) (said answer) {
	var asked question
	check(json.Unmarshal(line, &asked))
	if asked.Minor != minor {
		log.Fatalf("case %q is of Kubernetes %s, this program of %s", asked.ID, asked.Minor, minor)
	}
	said.ID = asked.ID
	defer func() {
		if recovered := recover(); recovered != nil {
			said.Outcome, said.Error, said.Allocations = "panic", fmt.Sprint(recovered), nil
		}
	}()
	features := buildFeatures(asked.Features)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	allocator, err := structured.NewAllocator(ctx, features, allocatedState(features, asked.Held),
		classLister(asked.Classes), asked.Slices, celCache(features, 1000))
	if err != nil {
		said.Outcome, said.Error = "error", err.Error()
		return said
	}
	said.Channel = path.Base(reflect.TypeOf(allocator).Elem().PkgPath())
	allocated, err := allocator.Allocate(ctx, asked.Node, asked.Claims)
	said.Steps = steps(allocator)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		said.Outcome = "timeout"
	case err != nil && concernsOneNode(err):
		said.Outcome, said.Error = "invalid-pools", err.Error()
	case err != nil:
		said.Outcome, said.Error = "error", err.Error()
	case allocated == nil:
		said.Outcome = "none"
	default:
		said.Outcome = "allocated"
		for i := range allocated {
			said.Allocations = append(said.Allocations, describe(&allocated[i]))
		}
	}
	return said
}

func describe(allocated *resourceapi.AllocationResult) allocation {
	described := allocation{Results: []result{}, NodeSelector: allocated.NodeSelector}
	for i := range allocated.Devices.Results {
		device := &allocated.Devices.Results[i]
		one := result{
			Request:                  device.Request,
			Driver:                   device.Driver,
			Pool:                     device.Pool,
			Device:                   device.Device,
			AdminAccess:              device.AdminAccess,
			Tolerations:              device.Tolerations,
			BindingConditions:        device.BindingConditions,
			BindingFailureConditions: device.BindingFailureConditions,
			Shared:                   device.ShareID != nil,
			SkipNodeOperations:       skippedNodeOperations(device),
		}
		for name, quantity := range device.ConsumedCapacity {
			if one.ConsumedCapacity == nil {
				one.ConsumedCapacity = map[string]string{}
			}
			one.ConsumedCapacity[string(name)] = quantity.String()
		}
		described.Results = append(described.Results, one)
	}
	for _, entry := range allocated.Devices.Config {
		described.Config = append(described.Config,
			config{Source: string(entry.Source), Requests: entry.Requests, Opaque: entry.Opaque})
	}
	return described
}

// steps asks the implementation behind the interface, whose types can't be named from outside.
func steps(allocator structured.Allocator) *int64 {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return nil
	}
	stats := method.Call(nil)[0]
	if stats.Kind() == reflect.Pointer {
		if stats.IsNil() {
			return nil
		}
		stats = stats.Elem()
	}
	count := stats.FieldByName("NumAllocateOneInvocations").Int()
	return &count
}

func celCache(features structured.Features, entries int) *cel.Cache {
	key := celFeatures(features)
	if celCaches[key] == nil {
		celCaches[key] = cel.NewCache(entries, key)
	}
	return celCaches[key]
}

func allocatedState(features structured.Features, held []*resourceapi.ResourceClaim) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range held {
		if claim.Status.Allocation != nil {
			hold(&state, features, claim.Status.Allocation)
		}
	}
	return state
}

// hold notes an allocation as the scheduler's plugin does: not at all with admin access; as a share if it has an ID and
// the feature is on, with what it consumes; else as the whole device.
func hold(state *structured.AllocatedState, features structured.Features, allocated *resourceapi.AllocationResult) {
	for _, device := range allocated.Devices.Results {
		if device.AdminAccess != nil && *device.AdminAccess {
			continue
		}
		id := structured.MakeDeviceID(device.Driver, device.Pool, device.Device)
		if !features.ConsumableCapacity || device.ShareID == nil {
			state.AllocatedDevices.Insert(id)
			continue
		}
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, device.ShareID))
		if device.ConsumedCapacity != nil {
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, device.ConsumedCapacity))
		}
	}
}

type classLister []*resourceapi.DeviceClass

func (classes classLister) List() ([]*resourceapi.DeviceClass, error) { return classes, nil }

func (classes classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range classes {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name) // as an informer's lister says it
}

// setFeatures turns the case's features on, by the names that the Python side uses.
func setFeatures(on map[string]bool, fields map[string]*bool) {
	for _, name := range slices.Sorted(maps.Keys(on)) {
		field, known := fields[name]
		switch {
		case known:
			*field = on[name]
		case on[name]:
			log.Fatalf("Kubernetes %s has no feature %q; it has %s", minor, name,
				strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func init() { runtime.GOMAXPROCS(1) } // one case after the other, and a benchmark of one thread
