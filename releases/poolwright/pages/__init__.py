"""The release as something to look at: one document with everything that the page shows, and the page."""
