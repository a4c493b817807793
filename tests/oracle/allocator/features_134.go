//go:build dra134

package main

import (
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const minor = "1.34"

// buildFeatures also takes "device_status", the gate DRAResourceClaimDeviceStatus on its own. It is on in 1.34 unless
// somebody turns it off, and alone it makes the experimental implementation run: no other supports it.
func buildFeatures(on map[string]bool) (features structured.Features) {
	features.DeviceStatus = true
	setFeatures(on, map[string]*bool{
		"admin_access":          &features.AdminAccess,
		"binding_conditions":    &features.DeviceBinding,
		"consumable_capacity":   &features.ConsumableCapacity,
		"device_status":         &features.DeviceStatus,
		"device_taints":         &features.DeviceTaints,
		"partitionable_devices": &features.PartitionableDevices,
		"prioritized_list":      &features.PrioritizedList,
	})
	return features
}

func celFeatures(features structured.Features) cel.Features {
	return cel.Features{EnableConsumableCapacity: features.ConsumableCapacity}
}

// concernsOneNode: before 1.35 every error ended the whole scheduling attempt.
func concernsOneNode(error) bool { return false }

func skippedNodeOperations(*resourceapi.DeviceRequestAllocationResult) []string { return nil }
