"""`saddlescope meanfield` from the shell, and the figure of a flow."""

import json

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.meanfield import Measure, StartLaw, meanfield
from saddlescope.nets import Erf
from saddlescope.workflows.points_file import read_points

SHORT = ("--time", "2", "--rank", "1")


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "points.csv").write_text("x,y,weight\n-0.5,1,0.4\n0.5,-1,0.6\n")
    (tmp_path / "plain.csv").write_text("-0.5,1\n0.5,-1\n")
    (tmp_path / "flat.csv").write_text("a,b,y1,y2\n0,1,1,2\n1,0,3,4\n1,1,5,6\n")
    (tmp_path / "heavy.csv").write_text("x,y,weight\n-0.5,1,0.4\n0.5,-1,0.4\n")
    (tmp_path / "words.csv").write_text("x,y\nred,1\n2,1\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "inputs.csv").write_text("a,b\n1,2\n3,4\n")
    np.savez(tmp_path / "points.npz", x=[-0.5, 0.5], y=[1, -1], weight=[0.4, 0.6])
    np.savez(tmp_path / "no_y.npz", x=[1, 2])
    np.save(tmp_path / "points.npy", [[-0.5, 1], [0.5, -1]])
    (tmp_path / "broken.npz").write_bytes(b"PK not a zip")


def test_files_of_points_agree(tmp_path):
    for name in ("points.csv", "points.npz"):
        found = read_points(tmp_path / name)
        assert found.x.tolist() == [[-0.5], [0.5]]
        assert found.y.tolist() == [[1.0], [-1.0]]
        assert found.weights.tolist() == [0.4, 0.6]
    for name in ("plain.csv", "points.npy"):
        assert read_points(tmp_path / name).weights.tolist() == [0.5, 0.5]
    several = read_points(tmp_path / "flat.csv")
    assert several.x.shape == several.y.shape == (3, 2)


def test_it_prints_what_python_gives(saddlescope, tmp_path):
    status, out, _ = saddlescope("meanfield", "points.csv", *SHORT, "--json")
    found = json.loads(out)
    measure = Measure([-0.5, 0.5], [1, -1], [0.4, 0.6])
    flow = meanfield(measure, 1, 1, Erf(), start=StartLaw(0.5, 1.0)).flow(2.0)
    assert status == 0
    assert found["solver"] == "memory"
    assert found["loss"] == pytest.approx(flow.loss.values)
    assert found["error"] == pytest.approx(flow.error)
    assert found["output"] == pytest.approx(flow.data.output.values[-1])


def test_nets_figure_and_page(saddlescope, tmp_path):
    words = ("--widths", "16,64", "--seeds", "2", "--figure", "f.svg", "--page", "p.html")
    status, out, _ = saddlescope("meanfield", "points.csv", *SHORT, *words)
    text = (tmp_path / "p.html").read_text()
    assert status == 0
    assert "distance of weights to the limit, 2 nets per width" in out
    assert (tmp_path / "f.svg").read_bytes().startswith(b"<?xml")
    for said in ("Mean-field limit on points.csv", "Solver memory", "Nets beside it", "data:image/png;base64,"):
        assert said in text
    assert "saddlescope meanfield points.csv" in text
    assert "<script" not in text
    assert "http" not in text


def test_a_start_that_does_not_move_says_when_nets_leave(saddlescope, tmp_path):
    still = ("--mean", "0", "--slope", "0", "--widths", "64", "--page", "p.html")
    status, out, _ = saddlescope("meanfield", "points.csv", *SHORT, *still)
    assert status == 0
    assert "stationary point of the limit" in out
    assert "a net of width 64 leaves at about time" in out
    assert "When nets leave" in (tmp_path / "p.html").read_text()


def test_the_name_of_a_run_gives_its_points(saddlescope):
    status, out, _ = saddlescope("meanfield", "f1_N16_bs4_L2", *SHORT, "--depth", "0", "--json")
    assert status == 0
    assert len(json.loads(out)["target"]) == 16


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.csv",), "There is no file"),
        (("none",), "or the name of a run"),
        (("heavy.csv",), "sum of 0.8"),
        (("words.csv",), "'red' where a number"),
        (("empty.csv",), "is empty"),
        (("ragged.csv",), "must have one length"),
        (("inputs.csv",), "a column y"),
        (("no_y.npz",), "has no array y"),
        (("broken.npz",), "cannot be read"),
        (("points.csv", "--rank", "0"), "`rank` must be a positive"),
        (("points.csv", "--activation", "tan"), "Did you mean 'tanh'?"),
        (("points.csv", "--time", "-1"), "T must be a positive time"),
        (("points.csv", "--time", "1e7", "--solver", "memory"), "keeps the whole past"),
        (("points.csv", "--widths", "a,b"), "whole numbers with commas"),
        (("points.csv", "--widths", "0"), "`width` must be a positive"),
        (("points.csv", "--widths", "8", "--seeds", "0"), "--seeds must be 1"),
        (("points.csv", "--mixing-bias", "-1"), "must not be negative"),
        (("points.csv", "--figure", "f.txt"), ".png, .pdf or .svg"),
        (("points.csv", "--page", "f.txt"), "A page is .html"),
    ],
)
def test_bad_input_is_one_sentence(saddlescope, words, said):
    status, _, error = saddlescope("meanfield", *words)
    assert status == 2
    assert said in error
    assert error.strip().count("\n") == 0


@pytest.mark.parametrize("depth", [0, 1])
def test_a_flow_draws_itself(tmp_path, depth):
    for name, measure in (("one", Measure([-0.5, 0.5], [1, -1])), ("two", Measure([[0, 1], [1, 0]], [1, -1]))):
        flow = meanfield(measure, 2, depth, Erf()).flow(1.0, times=5)
        flow.draw(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        figure = flow.draw()
        assert len(figure.axes) == 2 + depth
    with pytest.raises(InvalidInput, match="png"):
        flow.draw(tmp_path / "x.doc")
