"""What the trained experiments of the mean-field paper compute: matched nets, symmetry, spikes, words for numbers."""

import numpy as np
import pytest
import xarray as xr

from saddlescope.checks import mean_odd_share, odd_shares
from saddlescope.claims import FAILS, HOLDS, UNCLEAR
from saddlescope.nets.random_feature_net import count
from saddlescope.papers.meanfield import fig10, frequency_table, table1
from saddlescope.papers.meanfield._chirp import spikes
from saddlescope.papers.meanfield._numbers import above, difference, lies_within, word_for
from saddlescope.results import Results


def test_readouts_have_as_many_trained_parameters_as_the_nets_they_stand_beside():
    for rank, features in ((0, 512), (10, 1025), (50, 3077)):
        net = table1.net_of(f"readout as rank {rank}", 512)
        assert net.widths == (features,)
        assert count(net, 784, 10)[1] == 513 * rank + 5130
    assert {m: count(table1.net_of(m, 512), 784, 10)[1] for m in table1.PRINTED} == table1.PRINTED


def test_counts_are_those_of_the_nets_that_were_trained():
    def judged(change, width=512):
        found = table1.PRINTED | change
        axes = {"model": list(found), "dataset": ["mnist"] * len(found), "width": [width] * len(found)}
        runs = xr.Dataset({"trained": ("run", list(found.values()))}, {k: ("run", v) for k, v in axes.items()})
        return table1.as_counted(Results(runs, xr.Dataset(coords={"run": range(len(found))})))

    assert judged({}).holds
    assert not judged({"rank 5": 7_696}).holds
    assert judged({}, width=128) is None


def test_a_published_number_is_met_refuted_or_undecided():
    values = [97.0, 97.1, 96.9, 97.05, 96.95]
    assert word_for(97.02, values) == HOLDS
    assert word_for(99.0, values) == FAILS
    assert word_for(97.3, values) == UNCLEAR  # outside 95 %, inside 99 %
    assert word_for(97.0, [97.0]) == UNCLEAR  # one seed decides nothing


def test_intervals_decide():
    cases = {(0.5, 0.1): HOLDS, (2.0, 0.5): FAILS, (1.0, 0.2): UNCLEAR, (0.5, np.nan): UNCLEAR}
    assert {given: lies_within(0, 1, *given) for given in cases} == cases
    cases = {(1, 0.5): HOLDS, (-1, 0.5): FAILS, (0.2, 0.5): UNCLEAR, (1, np.nan): UNCLEAR}
    assert {given: above(*given) for given in cases} == cases


def test_differences_are_taken_seed_by_seed():
    mean, half = difference([3.0, 5.0, 9.0], [2.0, 4.0, 8.0])
    assert (mean, half) == (1.0, 0.0)
    assert np.isnan(difference([], [1.0])[0])


def test_butler_counts_signs_from_the_largest_weight_down():
    assert fig10.butler(np.ones(16)) == pytest.approx(4.0)  # √n: all on one side
    pairs = np.array([1.0, -1.0, 2.0, -2.0, 3.0, -3.0])
    assert fig10.butler(pairs) <= 1 / np.sqrt(6) + 1e-12
    draws = np.random.default_rng(0).uniform(-1, 1, (400, 500))
    share = np.mean([fig10.butler(w) > fig10.SYMMETRIC for w in draws])
    assert share < 0.03  # 1 % of symmetric draws


def test_spikes_are_extremes_in_deviations():
    x = np.linspace(0, 2 * np.pi, 2001)[:-1]
    spike = np.zeros(2000)
    spike[7] = 1.0
    assert spikes(np.sin(x)[:, None]) == pytest.approx(np.sqrt(2), rel=1e-3)
    assert spikes(spike[:, None]) > 40


class OneRun(dict):
    """A run as checks read it: names to arrays with `.values`."""

    def __getitem__(self, name):
        return type("Values", (), {"values": dict.__getitem__(self, name)})


def test_odd_shares_leave_out_the_output_and_start_in_the_middle():
    shares = {f"symmetry_defect_{k}": np.array([[0.8, 0.8], [0.1 * k, 0.1 * k]]) for k in range(5)}
    run = OneRun(shares)
    assert np.allclose(odd_shares(run), [0, 0.1, 0.2, 0.3])
    assert np.allclose(odd_shares(run, 0), 0.8)
    assert mean_odd_share(run) == pytest.approx(0.25)


def test_the_sweep_is_a_part_of_what_appendix_i_lists():
    points = frequency_table.experiment.plan(frequency_table.experiment.full).points
    full_rank = [p for p in points if p["rank"] == frequency_table.WIDE]
    assert len(full_rank) == 3
    assert {(p["f1"], p["bs"]) for p in points} == {(36, 100)}
    assert {(p["rank"], p["net"]) for p in points if p["activation"] == "ReLU"} == {(25, "frozen")}
    assert {(p["rank"], p["net"]) for p in points if p["net"] == "MLP"} == {(25, "MLP")}
