"""Checksums of what a NetCDF file holds: of a variable as its values come in, and of a group."""

import hashlib
import json

import numpy as np

DIGEST = "sha256"  # the attribute that holds the checksum of a group


class Fingerprint:
    """SHA-256 of a variable, as its values come in."""

    def __init__(self, name, dims, dtype):
        kind = "text" if dtype.kind == "O" else np.dtype(dtype).newbyteorder("<").str
        self.sha = hashlib.sha256(f"{name} {','.join(dims)} {kind} ".encode())
        self.dtype = dtype

    def add(self, values):
        if self.dtype.kind == "O":
            self.sha.update("".join(f"{text}\0" for text in values.ravel()).encode())
        else:
            little = self.dtype.newbyteorder("<")
            self.sha.update(np.ascontiguousarray(values.astype(little, copy=False)).tobytes())

    def hexdigest(self):
        return self.sha.hexdigest()


def group_hash(marks, attributes, attrs) -> str:
    """Of a group: its variables' fingerprints, their attributes and its own."""
    said = {str(k): str(v) for k, v in attrs.items() if k != DIGEST}
    return hashlib.sha256(json.dumps([marks, attributes, said], sort_keys=True).encode()).hexdigest()
