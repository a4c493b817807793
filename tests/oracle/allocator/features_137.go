//go:build !dra134 && !dra135 && !dra136

package main

import (
	"errors"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const minor = "1.37"

func buildFeatures(on map[string]bool) (features structured.Features) {
	setFeatures(on, map[string]*bool{
		"admin_access":              &features.AdminAccess,
		"binding_conditions":        &features.DeviceBindingAndStatus,
		"compatibility_groups":      &features.CompatibilityGroups,
		"consumable_capacity":       &features.ConsumableCapacity,
		"derived_attributes":        &features.DerivedAttributes,
		"device_taints":             &features.DeviceTaints,
		"fractional_capacity_range": &features.FractionalCapacityRange,
		"list_type_attributes":      &features.ListTypeAttributes,
		"optional_node_operations":  &features.OptionalNodeOperations,
		"partitionable_devices":     &features.PartitionableDevices,
		"prioritized_list":          &features.PrioritizedList,
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

func skippedNodeOperations(device *resourceapi.DeviceRequestAllocationResult) []string {
	var names []string
	for _, operation := range device.SkipNodeOperations {
		names = append(names, string(operation))
	}
	return names
}
