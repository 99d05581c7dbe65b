"""Quick forms that train in float32, as on other processors: other bits, but no difference beyond chance.

The fused kernel is compiled for another processor by Numba, XLA's loops for another instruction set. XLA ignores what
stands behind its first word that is no flag, so that its own comes first.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from saddlescope.numerics import processor

FLAGS = Path("/proc/cpuinfo")
HAS = set(FLAGS.read_text(encoding="utf-8").split()) if FLAGS.is_file() else set()
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
KINDS = {  # what the machine must have; the kernel's processor and its further features; XLA's instruction set
    "AVX2": ("avx2", "znver3", "", "AVX2"),
    "AVX-512": ("avx512f", "znver4", "+avx512f", "AVX512"),
    "SSE": ("sse4_2", "nehalem", "", "SSE4_2"),
}
FUSED, LOOP = "valleys.sweep_rank5", "valleys.fig9"  # trained by the kernel; by XLA's loop


def environment(kind):
    needs, name, features, isa = KINDS[kind]
    if needs not in HAS:
        pytest.skip(f"this processor has no {kind}")
    flags = f"--xla_cpu_max_isa={isa} {ONE_THREAD}"
    return os.environ | {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features, "XLA_FLAGS": flags}


def python(kind, *words):
    made = subprocess.run(
        [sys.executable, *map(str, words)], env=environment(kind), capture_output=True, text=True, timeout=300
    )
    return made


@pytest.mark.parametrize(
    ("kind", "key"),
    [("AVX2", FUSED), ("AVX-512", FUSED), ("SSE", LOOP)],
)
def test_no_verdict_differs_beyond_chance(kind, key, tmp_path):
    done = python(kind, "-m", "saddlescope", "run", key, "--quick", "--quiet", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[full record: " in done.stdout
    assert "beyond chance" not in done.stderr


BITS = """
import sys
from saddlescope.workflows.find import find_experiment
from saddlescope.training import train
experiment = find_experiment(sys.argv[1])
point = experiment.plan(experiment.quick).points[0]
print(train(experiment.setting(**point), quiet=True)["loss"].values[:20].tobytes().hex())
"""


@pytest.mark.parametrize(("key", "one", "other"), [(FUSED, "AVX2", "AVX-512"), (LOOP, "AVX2", "SSE")])
def test_the_processor_is_heard(key, one, other):
    """Else the test above would test nothing."""
    bits = [python(kind, "-c", BITS, key).stdout for kind in (one, other)]
    assert all(bits)
    assert bits[0] != bits[1]


def test_the_processor_is_named(monkeypatch):
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    plain = processor()
    assert plain
    if "avx512f" in HAS:
        assert "AVX-512" in plain
    monkeypatch.setenv("NUMBA_CPU_NAME", "znver3")
    monkeypatch.setenv("XLA_FLAGS", f"--xla_cpu_max_isa=AVX2 {ONE_THREAD}")
    assert processor().endswith("NUMBA_CPU_NAME=znver3, --xla_cpu_max_isa=AVX2")
