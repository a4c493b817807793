"""What envelopes cost on the devices that a cluster has, and what placements are refused for it."""
