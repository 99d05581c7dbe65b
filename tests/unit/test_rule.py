"""The one rule of all claims: which word a count of runs gives, what would decide, and what is chance."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saddlescope.checks import decided_by, groups_by, holds_in_share, in_most_runs
from saddlescope.claims import (
    ALWAYS,
    FAILS,
    HOLDS,
    MOST,
    PARTLY,
    UNCLEAR,
    CheckResult,
    Claim,
    Count,
    Verdict,
    judge,
    seeds_to_decide,
    word_of,
)
from saddlescope.errors import InvalidInput
from saddlescope.report.record import difference
from saddlescope.results import Results, collect, named
from saddlescope.statistics import wilson

RANKS = {FAILS: 0, UNCLEAR: 1, HOLDS: 2}
ASKED = st.sampled_from([0.6, 0.75, MOST, 0.9, ALWAYS])


@st.composite
def counts(draw, most=300):
    n = draw(st.integers(0, most))
    return Count(draw(st.integers(0, n)), n, draw(ASKED))


WORDS = [
    (20, 20, MOST, HOLDS), (16, 20, MOST, HOLDS), (15, 20, MOST, UNCLEAR), (10, 20, MOST, UNCLEAR),
    (9, 20, MOST, FAILS), (0, 20, MOST, FAILS), (4, 4, MOST, HOLDS), (3, 3, MOST, UNCLEAR), (0, 4, MOST, FAILS),
    (8, 10, MOST, UNCLEAR), (9, 11, MOST, HOLDS), (3, 10, MOST, UNCLEAR), (5, 11, MOST, FAILS), (1, 8, MOST, FAILS),
    (2, 5, MOST, UNCLEAR), (60, 60, ALWAYS, HOLDS), (59, 60, ALWAYS, FAILS), (3, 4, ALWAYS, FAILS),
    (2, 3, ALWAYS, UNCLEAR), (0, 0, MOST, UNCLEAR),
]  # fmt: skip


@pytest.mark.parametrize(("good", "n", "asked", "word"), WORDS)
def test_words_worked_out_by_hand(good, n, asked, word):
    assert Count(good, n, asked).word == word


@given(counts())
def test_the_word_is_what_the_interval_says(count):
    if count.n < 2:
        assert count.word == UNCLEAR
        return
    low, high = wilson(count.good, count.n)
    if count.word == HOLDS:
        assert count.good / count.n >= count.asked - 1e-9
        assert low >= 0.5
    if count.asked < ALWAYS and count.word == FAILS:
        assert high <= 0.5 or count.good / count.n < 0.5
    if high <= 0.5:
        assert count.word == FAILS


@given(counts())
def test_one_more_good_run_of_as_many_never_lowers_the_word(count):
    if count.good < count.n:
        assert RANKS[replace(count, good=count.good + 1).word] >= RANKS[count.word]


@given(st.integers(0, 1), ASKED)
def test_one_run_decides_nothing(good, asked):
    assert Count(good, 1, asked).word == UNCLEAR


@given(counts(most=60))
def test_the_number_that_would_decide_does_and_none_before_it(count):
    if not count.n:
        return
    wanted, share = seeds_to_decide([count], count.n), count.good / count.n

    def word_at(n):
        nearest = np.ceil if share >= count.asked - 1e-9 else np.floor
        return Count(int(nearest(round(share * n, 9))), n, count.asked).word

    if wanted is None:  # between one half and what is asked: for ever
        assert 0.5 <= share < count.asked
        assert all(word_at(n) == UNCLEAR for n in range(count.n, 300))
    else:
        assert word_at(wanted) != UNCLEAR
        assert all(word_at(n) == UNCLEAR for n in range(count.n, wanted))


def test_seeds_are_counted_where_they_have_several_runs_or_settings():
    assert seeds_to_decide([Count(8, 10)], 5) == 6  # 12 runs: two of each seed
    halves = [Count(10, 20), Count(8, 10, group="a"), Count(2, 10, group="b")]
    assert seeds_to_decide([Count(10, 20)], 10) is None
    assert seeds_to_decide(halves, 10) == 11  # then one holds and the other does not
    assert word_of([count.scaled(1.1) for count in halves]) == PARTLY


def test_a_count_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="not a share"):
        Count(3, 2)
    with pytest.raises(InvalidInput, match="more than half"):
        Count(1, 2, 0.3)


# ---- By settings ----


def test_partly_needs_settings_that_are_named():
    found = holds_in_share(5, 10, "5 of 10", groups={"a": (5, 5), "b": (0, 5)})
    assert (found.partly, found.holds, found.unclear) == (True, False, False)
    assert found.evidence == "5 of 10; holds for a (5 of 5); does not hold for b (0 of 5)"
    assert found.counts == (Count(5, 10), Count(5, 5, group="a"), Count(0, 5, group="b"))
    assert holds_in_share(5, 10, "5 of 10").unclear
    assert holds_in_share(6, 10, "6 of 10", groups={"a": (5, 5), "b": (1, 5)}).unclear


def test_settings_that_agree_decide_together():
    assert holds_in_share(40, 40, "e", groups={"a": (20, 20), "b": (20, 20)}).holds
    assert holds_in_share(90, 100, "e", groups={"a": (90, 90), "b": (0, 10)}).partly
    assert holds_in_share(10, 10, "e", groups={"a": (7, 7), "b": (3, 3)}).holds  # b alone could not tell
    assert holds_in_share(18, 21, "e", groups={"a": (17, 18), "b": (1, 3)}).unclear  # most of b say the contrary


def test_a_claim_decided_for_each_setting_by_itself():
    assert decided_by({"a": True, "b": True}, "e").holds
    found = decided_by({"a": True, "b": False, "c": UNCLEAR}, "e")
    assert found.partly
    assert found.evidence == "e; holds for a; does not hold for b; cannot tell for c"
    assert decided_by({"a": True, "b": UNCLEAR}, "e").unclear
    assert not any(vars(decided_by({"a": False}, "e"))[word] for word in ("holds", "partly", "unclear"))


def results_of(values, **axes):
    rows = [named({"value": v}) for v in values]
    points = [{name: column[i] for name, column in axes.items()} for i in range(len(values))]
    return Results(collect(rows, points), collect([named({})] * len(values), points))


def test_runs_are_counted_by_an_axis_and_a_diverged_one_against():
    values = [1.0] * 4 + [-1.0] * 4 + [np.inf]
    results = results_of(values, net=["a"] * 4 + ["b"] * 5, seed=[0, 1, 2, 3, 0, 1, 2, 3, 4])
    found = in_most_runs(lambda run: float(run["value"]) > 0, by="net")(results)
    assert found.partly
    assert found.counts == (Count(4, 9), Count(4, 4, group="a"), Count(0, 5, group="b"))
    assert groups_by(results, "net", np.ones(9)) == {"a": (4, 4), "b": (5, 5)}


def test_one_seed_decides_nothing_that_is_not_counted():
    claims = [
        Claim("By order.", "w", lambda r: CheckResult(True, "e")),
        Claim("By formula.", "w", lambda r: CheckResult(True, "e", exact=True)),
    ]
    assert [v.word for v in judge(claims, results_of([1.0, 2.0], seed=[0, 0], net=[1, 2]))] == [UNCLEAR, HOLDS]
    assert [v.word for v in judge(claims, results_of([1.0, 2.0], seed=[0, 1]))] == [HOLDS, HOLDS]
    assert [v.word for v in judge(claims, results_of([1.0], net=[1]))] == [UNCLEAR, HOLDS]


def test_the_seeds_that_would_decide_are_said():
    claim = Claim("s", "w", lambda r: holds_in_share(8, 10, "8 of 10"))
    (verdict,) = judge([claim], results_of([1.0] * 10, seed=[0, 1, 2, 3, 4] * 2, net=[1] * 5 + [2] * 5))
    assert verdict.seeds == 5
    assert "6 seeds would decide" in str(verdict)  # 12 runs, two of each seed
    between = replace(verdict, counts=(Count(7, 10),))
    assert "more seeds would not help" in str(between)
    assert Verdict.from_json(as_json(verdict)) == verdict


def as_json(verdict):
    return vars(verdict) | {"counts": [vars(count) for count in verdict.counts]}


# ---- Against the record ----


def verdict_of(word=None, *given_counts):
    flags = {HOLDS: word == HOLDS, PARTLY: word == PARTLY, UNCLEAR: word == UNCLEAR}
    return Verdict("s", "w", flags[HOLDS], "e", 5, 0, "", flags[PARTLY], flags[UNCLEAR], given_counts)


@settings(deadline=None)  # the first to import scipy waits for it
@given(counts(most=40), counts(most=40))
def test_what_differs_beyond_chance_differs_both_ways_and_a_count_never_from_itself(a, b):
    assert a.differs_from(b) == b.differs_from(a)
    assert not a.differs_from(a)


def test_chance_is_fishers_by_hand():
    """0 of 5 against 5 of 5 has a probability of 2 / (10 over 5); 1 in 126."""
    assert Count(0, 5).differs_from(Count(5, 5))
    assert not Count(0, 4).differs_from(Count(4, 4))  # 2 / 70
    assert not Count(7, 10).differs_from(Count(8, 10))
    assert not Count(0, 0).differs_from(Count(5, 5))


def test_another_word_by_chance_is_said_and_is_no_failure():
    found = difference(verdict_of(HOLDS, Count(9, 11)), verdict_of(UNCLEAR, Count(8, 11)))
    assert not found.beyond_chance
    assert "'s' holds, 9 of 11; recorded: cannot tell, 8 of 11 (within chance)" in str(found)
    assert difference(verdict_of(HOLDS, Count(9, 11)), verdict_of(HOLDS, Count(10, 11))) is None


def test_a_difference_beyond_chance_fails_even_under_the_same_word():
    assert difference(verdict_of(FAILS, Count(0, 20)), verdict_of(HOLDS, Count(20, 20))).beyond_chance
    assert difference(verdict_of(FAILS, Count(0, 20)), verdict_of(FAILS, Count(9, 20))).beyond_chance


def test_settings_are_compared_each_with_its_own():
    ours = verdict_of(PARTLY, Count(10, 20), Count(10, 10, group="a"), Count(0, 10, group="b"))
    other = verdict_of(PARTLY, Count(10, 20), Count(0, 10, group="a"), Count(10, 10, group="b"))
    assert difference(ours, ours) is None
    assert difference(ours, other).beyond_chance
    assert not difference(ours, verdict_of(UNCLEAR, Count(10, 20))).beyond_chance


def test_without_counts_words_are_compared_and_undecided_is_no_failure():
    assert difference(verdict_of(FAILS), verdict_of(HOLDS)).beyond_chance
    assert not difference(verdict_of(UNCLEAR), verdict_of(HOLDS)).beyond_chance
    assert difference(verdict_of(HOLDS), None) is None
    assert not difference(verdict_of(UNCLEAR), None).beyond_chance
    assert difference(verdict_of(FAILS), None).beyond_chance


def test_a_diverged_run_can_make_the_difference():
    claim = Claim("s", "w", in_most_runs(lambda run: True))
    sound = judge([claim], results_of([1.0] * 20, seed=list(range(20))))[0]
    lost = judge([claim], results_of([np.nan] * 8 + [1.0] * 12, seed=list(range(20))))[0]
    assert lost.counts == (Count(12, 20),)
    assert difference(lost, sound).beyond_chance
