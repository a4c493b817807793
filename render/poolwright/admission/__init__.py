"""What an envelope costs on a device: the memory of each rank line by line, and whether that is admitted."""
