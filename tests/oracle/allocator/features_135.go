//go:build dra135

package main

import (
	"errors"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const minor = "1.35"

func buildFeatures(on map[string]bool) (features structured.Features) {
	setFeatures(on, map[string]*bool{
		"admin_access":          &features.AdminAccess,
		"binding_conditions":    &features.DeviceBindingAndStatus,
		"consumable_capacity":   &features.ConsumableCapacity,
		"device_taints":         &features.DeviceTaints,
		"partitionable_devices": &features.PartitionableDevices,
		"prioritized_list":      &features.PrioritizedList,
	})
	return features
}

func celFeatures(features structured.Features) cel.Features {
	return cel.Features{EnableConsumableCapacity: features.ConsumableCapacity}
}

func concernsOneNode(err error) bool { return errors.Is(err, structured.ErrFailedAllocationOnNode) }

func skippedNodeOperations(*resourceapi.DeviceRequestAllocationResult) []string { return nil }
