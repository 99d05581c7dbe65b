"""Same seed, same bits: in pieces, after a stop, beside other runs, in other processes; the cache on disk."""

import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from by_hand import made, nets, same
from cases import advance_epochs, engine_for, random_feature_setting
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlescope.engines import Jax
from saddlescope.engines.fused import kernel
from saddlescope.engines.fused.call import Call
from saddlescope.nets import low_rank
from saddlescope.observables import Parameters
from saddlescope.optimisers import GradientDescent
from saddlescope.training import every, train


def moving(precision="float64", momentum=0.5, **changes):
    return random_feature_setting(optimiser=GradientDescent(0.02, momentum, 1.0), precision=precision, **changes)


VARIANTS = [("float64", None), ("float64", 0.0), ("float64", 0.5), ("float32", 0.5), ("float32", None)]


@pytest.mark.parametrize(("precision", "momentum"), VARIANTS)
@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_bits_do_not_depend_on_where_a_run_is_cut(precision, momentum, pieces):
    setting = moving(precision, momentum)
    whole, engine = (engine_for(setting) for _ in range(2))
    end, losses = advance_epochs(whole, whole.start(), 0, sum(pieces), 0.03)
    state, tick, rows = engine.start(), 0, []
    for n in pieces:
        if n % 2:  # as read from a file
            state, engine = jax.tree.map(jnp.asarray, state), engine_for(setting)
        state, new = advance_epochs(engine, state, tick, n, 0.03)
        tick, rows = tick + n, [*rows, new]
    assert np.array_equal(np.concatenate(rows), losses)
    assert same(state, end)


@settings(max_examples=60, deadline=None)
@given(nets(deepest=2, widest=50) | st.builds(lambda w: (low_rank(1, 1, w), 1, 1), st.integers(1, 50)))
def test_a_state_is_not_changed_by_what_comes_after(made_net):
    engine = engine_for(made(made_net[0], GradientDescent(0.01, 0.5, 1.0), 2, 5, *made_net[1:], 0))
    state, _ = advance_epochs(engine, engine.start(), 0, 1, 0.01)
    kept = jax.tree.map(np.copy, state)
    first = advance_epochs(engine, state, 1, 1, 0.01)
    assert same(state, kept)
    assert same(advance_epochs(engine, state, 1, 1, 0.01), first)


@contextmanager
def interrupted(after):
    """Die in the kernel's call number `after`, when it has moved the parameters: as Ctrl-C may make it."""
    calls, whole = [], Call.train

    def run(*args, **options):
        calls.append(whole(*args, **options))
        if len(calls) > after:
            raise KeyboardInterrupt
        return calls[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Call, "train", run)
        with pytest.raises(KeyboardInterrupt):
            yield


def test_a_call_that_was_interrupted_can_be_repeated():
    engine, other = (engine_for(moving()) for _ in range(2))
    state, _ = advance_epochs(engine, engine.start(), 0, 3, 0.03)
    with interrupted(after=0):
        advance_epochs(engine, state, 3, 4, 0.03)
    assert same(advance_epochs(engine, state, 3, 4, 0.03), advance_epochs(other, state, 3, 4, 0.03))


@pytest.mark.parametrize(("precision", "momentum"), VARIANTS)
def test_a_resumed_run_gives_the_same_bits(tmp_path, precision, momentum):
    setting, path = moving(precision, momentum, epochs=90), tmp_path / "run.npz"
    given = (Parameters(),), every(13, 90)
    whole = train(setting, *given)
    for after in (0, 2, 3):
        with interrupted(after):
            train(setting, *given, checkpoint=path)
    with np.load(path) as file:
        assert 0 < len(file["history.losses"]) < 90, "there must be something to resume from"
    times = ["cpu_seconds", "wall_seconds"]
    assert train(setting, *given, checkpoint=path).drop_vars(times).identical(whole.drop_vars(times))


def test_bits_do_not_depend_on_what_runs_beside_or_ran_before():
    setting, stop, beside = moving(), threading.Event(), []
    engine = engine_for(setting)
    alone = advance_epochs(engine, engine.start(), 0, 200, 0.03)

    def others():
        other = engine_for(made(low_rank(5, 3, 100), GradientDescent(0.01, 0.5), 3, 30, 1, 1, 1))
        while not stop.is_set():
            beside.append(advance_epochs(other, other.start(), 0, 5, 0.01)[1])

    thread = threading.Thread(target=others)
    thread.start()
    try:
        found = []
        while len(beside) < 10 or len(found) < 10:
            found.append(advance_epochs(engine, engine.start(), 0, 200, 0.03))
    finally:
        stop.set()
        thread.join()
    assert all(same(f, alone) for f in found)
    assert all(same(b, beside[0]) for b in beside)


@pytest.mark.parametrize("momentum", [None, 0.5])
def test_an_engine_forgets_a_run_that_diverged(momentum):
    setting = random_feature_setting(optimiser=GradientDescent(0.01, momentum))
    engine = engine_for(setting)
    before = advance_epochs(engine, engine.start(), 0, 3, 0.01)
    assert not np.isfinite(advance_epochs(engine, engine.start(), 0, 20, 1e6)[1][-1]).any()
    assert same(advance_epochs(engine, engine.start(), 0, 3, 0.01), before)


CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
from cases import random_feature_setting
from saddlescope.optimisers import GradientDescent
from saddlescope.training import train
from saddlescope.engines.fused.kernel import train_steps
run = train(random_feature_setting(optimiser=GradientDescent(0.02, 0.5, 1.0), precision=sys.argv[2]))
hits, misses = (sum(n.values()) for n in (train_steps.stats.cache_hits, train_steps.stats.cache_misses))
print(json.dumps(dict(losses=run["loss"].values.tolist(), hits=hits, misses=misses)))
"""


def in_another_process(precision="float64", **environment):
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, tests, precision], env=os.environ | environment, check=True, capture_output=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_another_process_gives_the_same_bits(precision):
    """JSON spells a float64 in full."""
    losses = train(moving(precision))["loss"].values.tolist()
    assert train(moving(precision))["loss"].values.tolist() == losses
    assert in_another_process(precision)["losses"] == losses


def test_kernels_for_other_processors_agree_with_jax_and_are_cached_apart(tmp_path):
    """Of 2013, with fused multiply-adds, and of any age, without: each compiled once and then read from disk."""
    expected, cache = train(moving(engine=Jax()))["loss"].values, {"NUMBA_CACHE_DIR": str(tmp_path)}
    named = {name: dict(NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES="", **cache) for name in ("haswell", "generic")}
    runs = {name: in_another_process(**given) for name, given in named.items()}
    for run in runs.values():
        np.testing.assert_allclose(run["losses"], expected, rtol=1e-12)
        assert (run["hits"], run["misses"]) == (0, 1)
    assert runs["haswell"]["losses"] != runs["generic"]["losses"], "the name of the processor was not heard"
    assert in_another_process(**named["haswell"]) == runs["haswell"] | dict(hits=1, misses=0)


def test_a_change_in_any_file_or_in_the_registers_is_another_fingerprint(tmp_path, monkeypatch):
    source, was = Path(kernel.__file__).parent, kernel.fingerprint()
    for file in source.glob("*.py"):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(kernel, "__file__", str(tmp_path / "kernel.py"))
    assert kernel.fingerprint() == was
    seen = {was}
    for name in ("tile.py", "passes.py", "view.py", "kernel.py"):
        text = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(text.replace(b"0", b"1", 1))
        seen.add(kernel.fingerprint())
        (tmp_path / name).write_bytes(text)
    assert len(seen) == 5
    assert kernel.fingerprint() == was
    monkeypatch.setattr(kernel, "REGISTER", 128)
    assert kernel.fingerprint() not in seen


def test_the_fingerprint_is_in_the_key():
    signature = kernel.train_steps.signatures[0] if kernel.train_steps.signatures else ()

    def key(function):
        return function._cache._index_key(signature, function.targetctx.codegen())

    one, other = kernel.compiled_with("one"), kernel.compiled_with("other")
    assert key(one) == key(kernel.compiled_with("one")) != key(other)
    assert key(kernel.train_steps) == key(kernel.compiled_with(kernel.fingerprint()))
