"""Five hundred damaged files: each gives an error sentence or the right numbers. `make fuzz` does ten thousand."""

from fuzzing import fuzz

SEED = 20


def test_damaged_files_are_refused_or_right(tmp_path):
    counts = fuzz(tmp_path, 500, SEED)
    assert sum(counts.values()) == 500
    assert not [name for name, what in counts if what == "more than a line"]
    for name in ("shard", "checkpoint", "results.nc", "plan", "verdicts"):
        assert counts[name, "refused"] > 10
    assert counts["foreign.nc", "read"] + counts["foreign.nc", "refused"] > 5
