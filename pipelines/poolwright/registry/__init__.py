"""Asks registries and chart repositories for digests: all of the network that there is, and only for `pin --online`."""
