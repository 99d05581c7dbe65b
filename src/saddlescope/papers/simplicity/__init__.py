"""Saddle-to-saddle dynamics across architectures (Zhang, Saxe, Latham)."""
