"""A release as a folder of files that its commit gives again, byte for byte."""
