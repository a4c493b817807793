package main

import (
	"context"
	"encoding/json"
	"os"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"
)

// world is what a benchmark allocates: each claim on its own, on the first node that has room, nodes in this order.
type world struct {
	Minor    string                       `json:"minor"`
	Features map[string]bool              `json:"features"`
	Nodes    []*v1.Node                   `json:"nodes"`
	Classes  []*resourceapi.DeviceClass   `json:"classes"`
	Slices   []*resourceapi.ResourceSlice `json:"slices"`
	Claims   []*resourceapi.ResourceClaim `json:"claims"`
}

type measured struct {
	Placed     int     `json:"placed"`
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"` // user and system, the garbage collector's included
	Placements [][]any `json:"placements"`  // claim, node, ["driver/pool/device", ...]; claims without a place are left out
}

// schedulerCELCacheEntries is how many compiled expressions the scheduler's plugin keeps.
const schedulerCELCacheEntries = 10

// bench makes a new allocator per claim, as the scheduler does per pod. Reading the input isn't measured.
func bench() {
	var asked world
	check(json.NewDecoder(os.Stdin).Decode(&asked))
	features := buildFeatures(asked.Features)
	state := allocatedState(features, nil)
	classes := classLister(asked.Classes)
	cache := celCache(features, schedulerCELCacheEntries)
	said := measured{Placements: [][]any{}}
	started, cpuStarted := time.Now(), cpuTime()
	for _, claim := range asked.Claims {
		ctx := context.Background()
		allocator, err := structured.NewAllocator(ctx, features, state, classes, asked.Slices, cache)
		check(err)
		for _, node := range asked.Nodes {
			allocated, err := allocator.Allocate(ctx, node, []*resourceapi.ResourceClaim{claim})
			if err != nil && concernsOneNode(err) {
				continue
			}
			check(err)
			if allocated == nil {
				continue
			}
			hold(&state, features, &allocated[0])
			devices := make([]string, 0, len(allocated[0].Devices.Results))
			for _, device := range allocated[0].Devices.Results {
				devices = append(devices, device.Driver+"/"+device.Pool+"/"+device.Device)
			}
			said.Placements = append(said.Placements, []any{claim.Name, node.Name, devices})
			break
		}
	}
	said.Seconds, said.CPUSeconds = time.Since(started).Seconds(), (cpuTime() - cpuStarted).Seconds()
	said.Placed = len(said.Placements)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(said))
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
