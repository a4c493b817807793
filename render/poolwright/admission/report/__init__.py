"""Prices for people and for other tools."""
