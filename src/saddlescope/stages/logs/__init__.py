"""Readers of logs that other tools wrote, one file per format."""
