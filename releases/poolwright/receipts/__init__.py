"""Who may have what rendered, as a file from outside any repository says."""
