"""How stages print: the order of rows, plural words, and where noise hides drops."""

from saddlescope.stages import Drop, Plateau, Stages
from saddlescope.stages.value import Trend


def plateau(start, end, smallest=0.05):
    return Plateau(start, end, 0.5 * (start + end), 1.0, 0.01, smallest_drop=smallest)


def fall(start, end, kind):
    return Drop(start, end, 0.5 * (start + end), 2.0, 1.0, 0.1, kind)


def test_rows_come_in_the_order_of_their_starts():
    """A slow fall has its middle behind that of a shoulder inside it, and still comes first."""
    falls = fall(93, 123, "drop"), fall(372, 471, "shoulder")
    slow = Trend(123, 715, 2, 1, "slow fall")
    found = Stages(falls, (plateau(0, 93), plateau(715, 2399)), trends=(slow,))
    assert [row["start"] for row in found.rows()] == [0, 93, 123, 372, 715]
    lines = [line.split("  ")[0] for line in str(found).splitlines()]
    assert lines == ["stage", "plateau", "drop", "slow fall", "", "plateau", "1 drop"]
    assert str(found).splitlines()[4].startswith("  shoulder ")


def test_a_shoulder_follows_what_starts_with_it():
    slow = Trend(35, 60, 2, 1, "slow fall")
    both = Stages((fall(35, 40, "shoulder"),), (plateau(30, 35),), trends=(slow,))
    assert [row["stage"] for row in both.rows()] == ["plateau", "slow fall", "shoulder"]
    one_point = Stages((), (plateau(325, 325),), trends=(Trend(325, 365, 1, 2, "rise"),))
    assert [row["stage"] for row in one_point.rows()] == ["plateau", "rise"]


def test_large_times_are_written_in_full():
    assert "plateau  0      1234567  617284  1 " in str(Stages((), (plateau(0, 1234567),)))


def test_one_of_a_kind_is_singular():
    assert str(Stages((), (), spikes=(3.0,))).endswith("0 drops; 1 point left out as a spike")
    both = "0 drops; smoothed over 1 point; 2 points left out as spikes"
    assert str(Stages((), (), 1.0, spikes=(3.0, 4.0))).endswith(both)
    assert str(Stages((fall(1, 2, "drop"),), (), 2.5)).endswith("1 drop; smoothed over 2.5 points")


def test_plateaus_on_which_noise_hides_drops_are_named():
    found = Stages((), (plateau(0, 90, 0.31), plateau(120, 180, 0.8), plateau(200, 400, 0.1)))
    plateaus = "the plateaus 0 to 90 (below 31 %), 120 to 180 (below 80 %) of the level"
    assert found.sentences() == ["0 drops", f"cannot tell drops from noise within {plateaus}"]


def test_where_only_a_fall_of_more_than_everything_could_be_seen_none_can():
    found = Stages((), (plateau(0, 90, 3.1), plateau(120, 180, 0.4)))
    assert found.sentences()[1:] == [
        "cannot tell any drop from noise within the plateau 0 to 90",
        "cannot tell drops from noise within the plateau 120 to 180 (below 40 %) of the level",
    ]
    many = Stages((), tuple(plateau(i, i + 1, 2.0) for i in range(9)))
    assert many.sentences()[1].endswith("plateaus 0 to 1, 1 to 2, 2 to 3, 3 to 4, 5 more")


def test_large_noise_is_written_in_full():
    said = [Stages((), (), noise=share).sentences()[0] for share in (0.00512, 0.112, 1.04)]
    assert said == [f"0 drops; noise of {n} % of the level" for n in ("0.51", "11", "104")]
