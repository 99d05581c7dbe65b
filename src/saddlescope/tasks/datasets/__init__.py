"""Data sets that are fetched once, checked and cached: one file each."""
