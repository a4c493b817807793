"""Release packets on disk, keys that sign them, and what is written beside them."""
