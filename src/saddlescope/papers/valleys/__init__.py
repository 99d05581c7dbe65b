"""Low-rank networks learn high-frequency features on loss-landscape valleys."""
