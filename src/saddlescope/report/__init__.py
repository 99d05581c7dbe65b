"""Pages from stored results."""
