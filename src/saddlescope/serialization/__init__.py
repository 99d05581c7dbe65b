"""Parts to JSON and back, and parts by name."""
