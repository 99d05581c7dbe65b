"""Quick forms that train in float32, as on other processors: other bits, but no difference beyond chance.

The fused kernel is compiled for another processor by Numba, XLA's loops for another instruction set. XLA ignores what
stands behind its first word that is no flag, so that its own comes first.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from saddlescope.numerics import processor
from saddlescope.storage.result_folder import load_results
from saddlescope.workflows.find import find_experiment

FLAGS = Path("/proc/cpuinfo")
HAS = set(FLAGS.read_text(encoding="utf-8").split()) if FLAGS.is_file() else set()
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
KINDS = {  # what the machine must have; the kernel's processor and further features; XLA's and OpenBLAS's
    "AVX2": ("avx2", "znver3", "", "AVX2", "Zen"),
    "AVX-512": ("avx512f", "znver4", "+avx512f", "AVX512", "SkylakeX"),
    "SSE": ("sse4_2", "nehalem", "", "SSE4_2", "Nehalem"),
}
FUSED, LOOP = "valleys.sweep_rank5", "valleys.frequency_scaling"  # trained by the kernel; by XLA's loop


def environment(kind):
    needs, name, features, isa, blas = KINDS[kind]
    if needs not in HAS:
        pytest.skip(f"this processor has no {kind}")
    flags = f"--xla_cpu_max_isa={isa} {ONE_THREAD}"
    numba = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
    return os.environ | numba | {"XLA_FLAGS": flags, "OPENBLAS_CORETYPE": blas}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What `run --quick` said and stored on a kind of processor; each is run once."""
    seen = {}

    def run(kind, key):
        given = environment(kind)
        if (kind, key) not in seen:
            out = tmp_path_factory.mktemp("out")
            words = [sys.executable, "-m", "saddlescope", "run", key, "--quick", "--quiet", "--out", str(out)]
            done = subprocess.run(words, env=given, capture_output=True, text=True, timeout=300)
            seen[kind, key] = done, out / f"{key}.quick"
        return seen[kind, key]

    return run


@pytest.mark.parametrize(
    ("kind", "key"),
    [("AVX2", FUSED), ("AVX-512", FUSED), ("SSE", LOOP)],
)
def test_no_verdict_differs_beyond_chance(ran, kind, key):
    done, _ = ran(kind, key)
    assert done.returncode == 0, done.stderr
    assert "[full record: " in done.stdout
    assert "beyond chance" not in done.stderr


def numbers(results):
    """The measured numbers of the first run by name, but times."""
    measured = next(iter(results.runs())).measured.data_vars.items()
    return {n: float(v) for n, v in measured if v.ndim == 0 and v.dtype.kind == "f" and "seconds" not in str(n)}


def some_differ(one, other):
    assert one.keys() == other.keys() != set()
    return any(one[name] != other[name] for name in one if np.isfinite(one[name]))


def test_the_kernel_hears_the_processor(ran):
    """Else the test above would test nothing."""
    assert some_differ(*(numbers(load_results(ran(kind, FUSED)[1])) for kind in ("AVX2", "AVX-512")))


def test_the_loop_hears_the_processor(ran):
    """The same of XLA's loop: a run of another instruction set, and one of this processor's own."""
    environment("AVX2")  # where the machine has no more than SSE, both are the same
    experiment = find_experiment(LOOP)
    point = experiment.plan(experiment.quick).points[0]
    here = experiment.run({axis: (value,) for axis, value in point.items()}, quiet=True)
    there = load_results(ran("SSE", LOOP)[1]).select(**point)
    assert some_differ(numbers(here), numbers(there))


def test_the_processor_is_named(monkeypatch):
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    plain = processor()
    assert plain
    if "avx512f" in HAS:
        assert "AVX-512" in plain
    monkeypatch.setenv("NUMBA_CPU_NAME", "znver3")
    monkeypatch.setenv("XLA_FLAGS", f"--xla_cpu_max_isa=AVX2 {ONE_THREAD}")
    assert processor().endswith("NUMBA_CPU_NAME=znver3, --xla_cpu_max_isa=AVX2")
