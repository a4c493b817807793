//go:build dra136

package main

import (
	"errors"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const minor = "1.36"

func buildFeatures(on map[string]bool) (features structured.Features) {
	setFeatures(on, map[string]*bool{
		"admin_access":          &features.AdminAccess,
		"binding_conditions":    &features.DeviceBindingAndStatus,
		"consumable_capacity":   &features.ConsumableCapacity,
		"device_taints":         &features.DeviceTaints,
		"list_type_attributes":  &features.ListTypeAttributes,
		"partitionable_devices": &features.PartitionableDevices,
		"prioritized_list":      &features.PrioritizedList,
	})
	return features
}

func celFeatures(features structured.Features) cel.Features {
	return cel.Features{
		EnableConsumableCapacity: features.ConsumableCapacity,
		EnableListTypeAttributes: features.ListTypeAttributes,
	}
}

func concernsOneNode(err error) bool { return errors.Is(err, structured.ErrFailedAllocationOnNode) }

func skippedNodeOperations(*resourceapi.DeviceRequestAllocationResult) []string { return nil }
