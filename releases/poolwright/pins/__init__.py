"""What stacks resolve to: exact versions, charts and images, each with its reason, and whether they go together."""
