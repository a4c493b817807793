"""What is said of a release packet, by whom, and whether the packet is what was said."""
