"""Observables of curves and channels against closed forms, brute force and finite differences."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cases import linear_setting, random_feature_setting
from equinox import field

from saddlescope.engines import Jax
from saddlescope.errors import InvalidInput
from saddlescope.losses import SquaredError, squared_error
from saddlescope.nets import MuP, Tanh, low_rank
from saddlescope.observables import (
    ChannelPartials,
    Fit,
    FullLoss,
    GradientNoise,
    LogRatios,
    MinimaCounts,
    Observable,
    PaperMinima,
    Parameters,
    ProminentMinima,
    ResidualAmplitudes,
    Sharpness,
    SymmetryDefect,
    TestError,
    WeightDensity,
    cosine_amplitudes,
    learned_since,
    log_ratios,
    log_sizes,
    measure,
    odd_share,
)
from saddlescope.observables.observable import HostNet
from saddlescope.optimisers import StepDecay
from saddlescope.tasks import ArrayTask, Chirp, FunctionTask, cosine
from saddlescope.training import (
    SaveAt,
    every,
    every_epoch,
    observe_at,
    observe_checkpoint,
    observe_saved,
    on_cut,
    train,
)
from saddlescope.training.readable import check_readable
from saddlescope.training.saved import _snapshot_at

X = np.linspace(-1, 1, 1000)


def snapshot(**changes):
    setting = random_feature_setting(precision="float64", **changes)
    return setting, _snapshot_at(setting, {}, (), 0, 0.01)


def numpy_channels(params, x):
    h, found = x, []
    for j in range(len(params) // 4):
        h = params[f"c{j}"] + np.maximum(h @ params[f"A{j}"].T + params[f"b{j}"], 0) @ params[f"C{j}"].T
        found.append(h)
    return found


def test_partials_test_error_and_ratios_are_the_net_written_out():
    setting, instant = snapshot()
    params, x = setting.initial_params(), np.linspace(-1, 1, 40)[:, None]
    found = measure((ChannelPartials(None, 40), TestError(40), LogRatios(0.3, 1)), instant)
    expected = numpy_channels(params, x)
    for j, f in enumerate(expected):
        np.testing.assert_allclose(found[f"partial_{j}"], f, rtol=1e-10, atol=1e-13)
    error = np.mean((expected[-1] - np.cos(2 * np.pi * x) - np.cos(4 * np.pi * x)) ** 2)
    assert found["test_error"] == pytest.approx(error, rel=1e-10)
    a, b, c = np.log(np.abs(numpy_channels(params, np.array([[0.3]]))[1][0]) + 1e-6)
    np.testing.assert_allclose(found["log_ratio_pairs"], [a - b, a - c, b - c], rtol=1e-9)
    assert found["log_ratio_max"] == pytest.approx(max(a, b, c) - min(a, b, c), rel=1e-9)


def test_an_engine_on_the_host_is_asked_once_for_each_set_of_points():
    setting, instant = snapshot()
    params, asked = setting.initial_params(), []

    def channels(x):
        asked.append(len(x))
        return numpy_channels(params, x)

    observe = TestError(40), Fit(40), ResidualAmplitudes(None, 40), ChannelPartials(None, 50), FullLoss()
    found = measure(observe, replace(instant, host=HostNet(channels, lambda: 7.0)))
    assert asked == [40, 50]
    for name, expected in measure(observe[:-1], instant).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-9, atol=1e-13)
    assert found["full_loss"] == 7.0, "as the engine computes it"


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_what_is_read_while_training_is_what_jax_evaluates_at_these_weights(precision):
    setting = random_feature_setting(precision=precision, epochs=3)
    assert setting.engine.name == "fused"
    observe = TestError(40), Fit(40), ResidualAmplitudes(None, 40), ChannelPartials(None, 50), FullLoss()
    run = train(setting, (*observe, Parameters()))
    weights = {str(n).removeprefix("param_"): v.values[-1] for n, v in run.items() if str(n).startswith("param_")}
    by_jax = observe_at(setting.replace(engine=Jax()), weights, observe)
    tolerance = dict(rtol=1e-12, atol=1e-14) if precision == "float64" else dict(rtol=2e-5, atol=2e-6)
    for name, expected in by_jax.items():
        assert run[name].dtype == expected.dtype
        np.testing.assert_allclose(run[name].values[-1], expected, **tolerance)


def test_random_test_points_are_drawn_by_their_seed():
    _, instant = snapshot()
    one, same, other = (TestError(30, seed=s)(instant) for s in (1, 1, 2))
    assert one == same != other


def test_log_ratios_are_antisymmetric_and_floored():
    r = log_ratios(np.array([1.0, -np.e, 0.0]))
    np.testing.assert_allclose(r, -r.T)
    assert r[1, 0] == pytest.approx(1, abs=1e-5)
    assert r[0, 2] == pytest.approx(np.log(1e6), abs=1e-5)


def test_odd_share_of_known_functions():
    even, odd = np.cos(3 * X) + 7, np.sin(2 * X)
    even_energy, odd_energy = np.var(np.cos(3 * X)), np.var(odd)
    columns = np.stack([even, odd, even + odd, np.full_like(X, 2.0)], axis=1)
    expected = [0, 1, odd_energy / (odd_energy + even_energy), 0]
    np.testing.assert_allclose(odd_share(columns), expected, atol=1e-12)


def test_log_sizes_are_found_again_from_their_differences():
    f = np.array([[1.0, -3.0, 0.2, 7.0], [2.0, 2.0, 1e-3, 5.0]])
    pairs = np.stack([log_ratios(row)[np.triu_indices(4, 1)] for row in f])
    expected = np.log(np.abs(f) + 1e-6)
    np.testing.assert_allclose(log_sizes(pairs), expected - expected.mean(axis=1, keepdims=True), atol=1e-12)


def test_minima_of_a_cosine():
    """cos(2πkx) has 2k minima of -1 within [-1, 1]: the paper's rule sees none, the sound one all."""
    for k in (1, 3, 8):
        f = np.cos(2 * np.pi * k * X)
        assert PaperMinima()(f) == 0
        assert PaperMinima()(f + 2) == 2 * k
        assert ProminentMinima()(f) == ProminentMinima()(-f) == ProminentMinima()(5 * f - 3) == (2 * k + 2 * k - 1) / 2


def test_the_sound_rule_does_not_count_rounding_and_the_papers_does():
    smooth = (1 + 1e-6 * X**2).astype(np.float32).astype(float)  # steps of float32 on a gentle bowl
    jagged = 1 + 1e-7 * np.random.default_rng(0).standard_normal(1000)
    assert PaperMinima()(jagged) > 200
    assert ProminentMinima()(jagged + 0.1 * X) == 0
    assert ProminentMinima()(np.ones(50)) == ProminentMinima()(np.zeros(50)) == 0
    assert ProminentMinima()(smooth) <= 1


def test_the_precision_of_counting_is_that_of_the_evaluation():
    """In float32 a deep untrained net's channels are nearly flat, and rounding makes minima that float64 has not."""
    _, instant = snapshot(net=low_rank(5, 6, 128))
    single, double = (MinimaCounts(PaperMinima(-np.inf), 1000, p)(instant) for p in ("float32", "float64"))
    assert single[-2] > double[-2] + 5


def test_minima_counts_are_means_over_channels():
    _, instant = snapshot(net=low_rank(3, 2, 20, activation=Tanh()))
    rule = ProminentMinima(0.01)
    found = MinimaCounts(rule, 100)(instant)
    partials = ChannelPartials(None, 100)(instant)
    assert found.tolist() == [np.mean([rule(f) for f in partials[str(j)].T]) for j in range(3)]


def test_amplitudes_are_exact_for_a_sum_of_cosines():
    x = np.linspace(-1, 1, 77)
    y = 0.3 + 1.5 * np.cos(2 * np.pi * x) - 0.2 * np.cos(6 * np.pi * x + 0.5)
    np.testing.assert_allclose(cosine_amplitudes(x, y, (1, 3), (0, 0.5)), [1.5, -0.2], atol=1e-12)


def test_residual_amplitude_of_a_net_that_gives_nothing_is_that_of_the_target():
    setting, _ = snapshot()
    still = {k: np.zeros_like(v) for k, v in setting.initial_params().items() if k[0] in "Cc"}
    instant = _snapshot_at(setting, still, (), 0, 0.01)
    np.testing.assert_allclose(ResidualAmplitudes()(instant), [1, 1], atol=1e-10)
    np.testing.assert_allclose(ResidualAmplitudes(4)(instant), [1, 1, 0, 0], atol=1e-10)


def test_learned_since_is_the_last_crossing():
    times = [0, 10, 20, 30, 40]
    amplitudes = np.array([[1, 1, 1], [0.4, 0.9, 0.1], [0.6, 0.6, 0.1], [0.3, 0.6, -0.6], [0.1, -0.55, -0.9]])
    np.testing.assert_array_equal(learned_since(times, amplitudes, np.ones(3)), [30, np.nan, np.nan])
    np.testing.assert_array_equal(learned_since(times, amplitudes[:3], np.ones(3)), [np.nan, np.nan, 10])


def dense_hessian(setting, params):
    """By finite differences of the gradient over the trained parameters."""
    import jax
    from jax.flatten_util import ravel_pytree

    net, data = setting.net, setting.data()
    flat, restore = ravel_pytree(net.trained(params))
    gradient = jax.jit(jax.grad(lambda t: squared_error(net, params | restore(t), data)))
    step = 1e-6
    return np.stack([(gradient(flat + step * e) - gradient(flat - step * e)) / (2 * step) for e in np.eye(flat.size)])


def test_sharpness_is_the_top_eigenvalue_of_the_hessian():
    setting, instant = snapshot(net=low_rank(2, 1, 6, activation=Tanh()))
    found = measure((Sharpness(40),), instant)
    top = np.linalg.eigvalsh(dense_hessian(setting, setting.initial_params()))[-1]
    assert found["sharpness_top"] == pytest.approx(top, rel=1e-5)
    assert found["sharpness_over_limit"] == pytest.approx(top * 0.01 / 2, rel=1e-5)


@pytest.mark.parametrize("samples", [1, 2, 4])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_sharpness_of_a_few_samples_is_not_invented(samples, precision):
    """Few samples, few directions of curvature: Lanczos runs out of them long before its thirty steps."""
    x = np.linspace(-0.5, 0.5, samples + 1)[1:]
    setting = random_feature_setting(task=ArrayTask(x, np.cos(x)), net=low_rank(2, 1, 24), batch=1, precision=precision)
    found = measure((Sharpness(),), _snapshot_at(setting, {}, (), 0, 0.01))
    top = np.linalg.eigvalsh(dense_hessian(setting, setting.initial_params()))[-1]
    assert found["sharpness_top"] == pytest.approx(top, rel=1e-4)


def test_the_limit_of_stability_counts_each_parameters_own_rate():
    net = low_rank(2, 1, 12, activation=Tanh(), trainable="all", parameterisation=MuP())
    setting, instant = snapshot(net=net)
    params = setting.initial_params()
    rates = np.concatenate([np.full(np.size(params[k]), net.rate(k)) for k in sorted(params)])
    weighted = np.sqrt(rates)[:, None] * dense_hessian(setting, params) * np.sqrt(rates)
    found = measure((Sharpness(60),), instant)
    assert found["sharpness_over_limit"] == pytest.approx(np.linalg.eigvalsh(weighted)[-1] * 0.01 / 2, rel=1e-4)
    assert abs(float(found["sharpness_over_limit"] / found["sharpness_top"]) / 0.005 - 1) > 0.1


def test_gradient_noise_is_the_scatter_of_single_gradients():
    import jax
    from jax.flatten_util import ravel_pytree

    setting, instant = snapshot()
    params, data, net = setting.initial_params(), setting.data(), setting.net
    from saddlescope.tasks import Samples

    grad = jax.jit(lambda s: SquaredError().with_gradient(net, params, s)[1])
    single = [Samples(data.x[i : i + 1], data.y[i : i + 1]) for i in range(setting.samples)]
    own = np.stack([ravel_pytree(grad(s))[0] for s in single])
    found = measure((GradientNoise(7),), instant)
    assert found["gradient_noise_trace"] == pytest.approx(own.var(axis=0).sum(), rel=1e-9)
    assert found["gradient_noise_signal"] == pytest.approx(np.sum(own.mean(axis=0) ** 2), rel=1e-9)


def test_weight_density_integrates_to_one():
    _, instant = snapshot()
    found = WeightDensity(1.0, 50)(instant)
    assert set(found) == {"C0", "C1", "C2"}
    for density in found.values():
        assert density.sum() * 2 / 50 == pytest.approx(1)


class Clock(Observable):
    """The time and rate that an observable sees."""

    name = "clock"

    def __call__(self, snapshot):
        return {"tick": snapshot.step, "lr": snapshot.lr}


@pytest.mark.parametrize("make", [random_feature_setting, linear_setting])
def test_what_is_stored_has_the_time_and_rate_of_the_instant(make, tmp_path):
    """At a cut, the rate is the one that led there."""
    length = {"steps": 10} if make is linear_setting else {"epochs": 10}
    setting = make(schedule=StepDecay(0.5, 5), stop=(), **length)
    times, each = every_epoch(5, 10) if setting.batch else every(5, 10), setting.steps_per_epoch
    run = train(setting, (Clock(), Parameters()), times | on_cut(), checkpoint=tmp_path / "c.npz")
    start = setting.optimiser.lr
    assert run["clock_tick"].values.tolist() == [0, 5 * each, 10 * each]
    np.testing.assert_allclose(run["clock_lr"].values, [start, start, start / 2])
    again = observe_saved(run, Clock())
    np.testing.assert_array_equal(again["clock_tick"], run["clock_tick"])
    np.testing.assert_array_equal(again["clock_lr"], run["clock_lr"])
    last = observe_checkpoint(tmp_path / "c.npz", setting, Clock())
    assert (last["clock_tick"], last["clock_lr"]) == (10 * each, run["clock_lr"].values[-1])


def test_a_setting_that_cannot_be_rebuilt_is_given():
    setting = random_feature_setting(task=FunctionTask(lambda x: x**2, 30), epochs=3)
    run = train(setting, (TestError(), Parameters()))
    with pytest.raises(InvalidInput, match="lambda"):
        observe_saved(run, TestError())
    assert observe_saved(run, TestError(), setting)["test_error"].values == run["test_error"].values
    with pytest.raises(InvalidInput, match="not the run's own"):
        observe_saved(run, TestError(), setting.replace(budget=4))


def test_what_cannot_be_read_is_found_out_before_training():
    with pytest.raises(InvalidInput, match="two channels or more"):
        train(random_feature_setting(epochs=10**9, stop=()), LogRatios(block=2))


class Formless(Observable):
    """One of the user's own, with a field that has no form as JSON."""

    options: dict = field(static=True)
    name = "formless"

    def __call__(self, snapshot):
        return 0.0


def test_an_engine_on_the_host_tries_observables_once_per_kind_of_run():
    tried = []

    def begin(seed, *observe, on_host=True, fails=False):
        def read_now(_):
            tried.append(seed)
            if fails:
                raise InvalidInput("no")

        stepper, setting = SimpleNamespace(on_host=on_host), random_feature_setting(seed=seed, net=low_rank(3, 1, 21))
        run = SimpleNamespace(setting=setting, observe=observe, stepper=stepper, snapshot=lambda: None)
        run.passed = SimpleNamespace(read_now=read_now)
        check_readable(run)

    for seed in (1, 2):
        with pytest.raises(InvalidInput):
            begin(seed, TestError(31), fails=True)
    assert tried == [1, 2], "what failed is tried again"
    for seed in (3, 4):
        begin(seed, TestError(31))
    begin(5, TestError(32))
    for seed in (6, 7):
        begin(seed, TestError(31), on_host=False)
        begin(seed, Formless({}))
    assert tried == [1, 2, 3, 5, 6, 6, 7, 7]


def test_a_checkpoint_can_be_read_without_training_on(tmp_path):
    setting = random_feature_setting(epochs=8, optimiser=random_feature_setting().optimiser)
    run = train(setting, TestError(), checkpoint=tmp_path / "c.npz")
    again = observe_checkpoint(tmp_path / "c.npz", setting, (TestError(), SymmetryDefect(11)))
    assert again["test_error"] == run["test_error"].values[-1]
    with pytest.raises(InvalidInput, match="another setting"):
        observe_checkpoint(tmp_path / "c.npz", random_feature_setting(epochs=9), TestError())
    with pytest.raises(InvalidInput, match="no checkpoint"):
        observe_checkpoint(tmp_path / "none.npz", setting, TestError())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: TestError()(snapshot(task=ArrayTask(X[:30], X[:30]))[1]), "not a Curve"),
        (lambda: ResidualAmplitudes()(snapshot(task=Chirp(2, 1, 30))[1]), "by `modes`"),
        (lambda: LogRatios(block=2)(snapshot()[1]), "two channels or more"),
        (lambda: LogRatios(block=9)(snapshot()[1]), "blocks 0 to 2"),
        (lambda: ChannelPartials((5,))(snapshot()[1]), "blocks 0 to 2; got (5,)"),
        (lambda: TestError(0), "1 or more"),
        (lambda: TestError(seed=-1), "non-negative whole number or None"),
        (lambda: MinimaCounts("paper"), "PaperMinima() or ProminentMinima()"),
        (lambda: MinimaCounts(PaperMinima(), precision="half"), "'float32' or 'float64'"),
        (lambda: ChannelPartials()(snapshot(task=ArrayTask(np.ones((30, 2)), X[:30]))[1]), "along one input"),
        (lambda: every(1.5, 10), "positive whole number between them, got 1.5"),
        (lambda: SaveAt((1.5,)), "whole numbers of steps"),
        (lambda: Sharpness(1), "above 1"),
        (lambda: WeightDensity(-1), "positive and finite"),
        (lambda: ProminentMinima(2), "between 0 and 1"),
    ],
)
def test_what_cannot_be_read_is_refused(make, said):
    with pytest.raises(InvalidInput) as refused:
        make()
    assert said in str(refused.value)


def test_an_aliased_run_is_marked():
    clean = train(random_feature_setting(epochs=1))
    aliased = train(random_feature_setting(task=cosine(12, 30, allow_aliasing=True), epochs=1))
    assert bool(aliased["aliased"])
    assert "aliased" not in clean
