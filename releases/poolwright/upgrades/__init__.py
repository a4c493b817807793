"""How a cluster gets from the versions of one lock to those of the next, and what is at risk on the way."""
