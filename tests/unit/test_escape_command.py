"""`saddlescope escape` from the shell: what it reads, prints, draws and refuses."""

import json

import numpy as np
import pytest

from saddlescope import blow_up_time, escape_directions, localized_loss
from saddlescope.errors import InvalidInput
from saddlescope.theory.escape import cost
from saddlescope.theory.escape.localized import circle
from saddlescope.workflows.escape_data import read_escape_data
from saddlescope.workflows.search_escape import draw_weights, search_escape

X, G = circle(8)
FEW = ("--restarts", "16", "--width", "8")


def csv_of(path, head, columns):
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([*([head] if head else []), *rows]) + "\n")
    return path


@pytest.fixture(autouse=True)
def files(tmp_path):
    np.savez(tmp_path / "both.npz", X=X, G=G)
    np.savez(tmp_path / "targets.npz", X=X.T, y=-G[0])
    np.savez(tmp_path / "bad.npz", X=X, G=G[:, :5])
    np.savez(tmp_path / "gap.npz", X=X.T, y=[0, 2] * 4)
    np.savez(tmp_path / "nothing.npz", X=X.T)
    broken = {
        "zero_g": {"X": X, "G": 0 * G},
        "zero_x": {"X": 0 * X, "G": G},
        "zero_y": {"X": X.T, "y": 0 * G[0]},
        "nan": {"X": np.where(np.arange(8) == 3, [[np.nan], [1]], X), "G": G},
        "nan_y": {"X": X.T, "y": np.where(np.arange(8) == 3, np.nan, 1.0)},
        "one_class": {"X": X.T, "y": [0] * 8},
        "halves": {"X": X.T, "y": [0.5, 1] * 4},
        "words": {"X": X.T, "y": ["red", "blue"] * 4},
        "no_points": {"X": np.zeros((0, 2)), "y": np.zeros(0)},
        "many": {"X": np.ones((20_000, 200)), "y": np.ones(20_000)},
        "words_x": {"X": [["a", "b"]] * 8, "y": np.ones(8)},
        "complex": {"X": X.T + 1j, "y": np.ones(8)},
        "too_large": {"X": 1e200 * X, "G": 1e200 * G},
    }
    for name, arrays in broken.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
    (tmp_path / "broken.npz").write_bytes(b"PK not a zip file")
    hexagon, signs = circle(6)
    np.savez(tmp_path / "six.npz", X=hexagon, G=signs)


def test_it_prints_directions_and_draws_when_asked(saddlescope, tmp_path):
    status, out, _ = saddlescope("escape", "both.npz", *FEW, "--figure", "f.svg")
    assert status == 0
    assert out.startswith("8 points, 2 inputs, 1 output; G as given")
    assert "0.500000000" in out
    assert (tmp_path / "f.svg").read_bytes().startswith(b"<?xml")


def test_json_has_all_that_is_printed(saddlescope):
    status, out, _ = saddlescope("escape", "targets.npz", *FEW, "--json")
    found = json.loads(out)
    assert status == 0
    assert found["directions"][0]["speed"] == pytest.approx(0.125)
    assert found["directions"][0]["ranks"] == [2, 1, 1]
    assert found["status"] == "certified"
    assert found["gradient"] == "squared loss"


def test_no_first_order_escape_is_an_answer(saddlescope):
    status, out, _ = saddlescope("escape", "six.npz", *FEW, "--depth", "2", "--json")
    assert status == 0
    assert json.loads(out)["note"] == "no first-order escape"
    assert json.loads(out)["directions"] == []


def descent(weights, data, targets, lr, level, loss):
    """Steps of plain gradient descent on the true loss until ‖Y‖ reaches the level; no code of ours."""
    points, steps = data.X.shape[1], 0
    while True:
        hidden = [data.X]
        for w in weights[:-1]:
            hidden.append(np.maximum(w @ hidden[-1], 0))
        out = weights[-1] @ hidden[-1]
        if np.linalg.norm(out) >= level:
            return steps
        chances = np.exp(out) / np.exp(out).sum(axis=0)
        back = (2 * (out - targets) if loss == "squared" else chances - targets) / points
        slopes = []
        for w, h in zip(weights[::-1], hidden[::-1], strict=True):
            slopes.append(back @ h.T)
            back = (w.T @ back) * (h > 0)
        weights = [w - lr * g for w, g in zip(weights, slopes[::-1], strict=True)]
        steps += 1


@pytest.mark.parametrize(
    ("loss", "depth", "std", "lr"),
    [
        ("squared", 3, 0.02, 0.05),
        ("squared", 4, 0.06, 0.05),
        ("cross-entropy", 2, 0.01, 0.01),
        ("cross-entropy", 3, 0.03, 0.02),
    ],
)
def test_the_predicted_time_is_that_of_a_run(tmp_path, loss, depth, std, lr):
    """5 %: the outputs are 1 % of the targets, and a run has hundreds of steps; every draw is asked."""
    rng = np.random.default_rng(3)
    x, y = (X.T, -G[0]) if loss == "squared" else (rng.standard_normal((12, 4)), np.arange(12) % 3)
    np.savez(tmp_path / "run.npz", X=x, y=y)
    data = read_escape_data(tmp_path / "run.npz", loss)
    found = search_escape(data, depth, 8, 4, 1, std, lr)
    targets = y[None] if loss == "squared" else np.eye(3)[y].T
    for k, steps in enumerate(found.steps):
        weights = draw_weights(data, depth, 8, std, (1, k))
        real = descent(weights, data, targets, lr, found.level, loss)
        assert real > 200
        assert steps == pytest.approx(real, rel=0.05)


def test_the_page_is_one_file_with_everything(saddlescope, tmp_path):
    status, out, _ = saddlescope("escape", "targets.npz", *FEW, "--std", "0.05", "--lr", "0.1", "--page", "p.html")
    text = (tmp_path / "p.html").read_text()
    assert status == 0
    assert "page: p.html" in out
    for said in (
        "Escape directions of targets.npz",
        "0.125000000",
        "2-1-1",
        "Certified: no net",
        "data:image/png;base64,",
        "Predicted escape",
        "standard deviation 0.05",
        "saddlescope escape targets.npz",
    ):
        assert said in text
    assert "<script" not in text
    assert "http" not in text


def test_a_page_without_directions_and_a_hostile_name(saddlescope, tmp_path):
    (tmp_path / "<b>x.npz").write_bytes((tmp_path / "six.npz").read_bytes())
    status, _, _ = saddlescope("escape", "<b>x.npz", *FEW, "--depth", "2", "--page", "p.html")
    text = (tmp_path / "p.html").read_text()
    assert status == 0
    assert "No first-order escape" in text
    assert "<b>x.npz" not in text
    assert "<img" not in text


def test_a_search_beyond_memory_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(cost, "memory_of_machine", lambda: 1e5)
    with pytest.raises(InvalidInput, match="GB: use at most"):
        escape_directions(X, G)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bad.npz",), "G must have one row per row of X"),
        (("gap.npz", "--loss", "cross-entropy"), "Class 1 has no sample"),
        (("nothing.npz",), "neither y nor G"),
        (("none.npz",), "There is no file"),
        (("both.txt",), ".npz, .npy or .csv"),
        (("both.npz", "--depth", "1"), "depth 2 or more"),
        (("both.npz", "--width", "0"), "width must be 1"),
        (("targets.npz", "--loss", "hinge"), "squared or cross-entropy"),
        (("both.npz", "--figure", "f.txt"), ".png, .pdf or .svg"),
        (("both.npz", "--page", "f.txt"), "A page is .html"),
        (("both.npz", "--std", "0.1"), "both --std and --lr"),
        (("both.npz", "--std", "nan", "--lr", "1"), "must be positive"),
        (("both.npz", "--restarts", "0"), "restarts must be 1"),
        (("both.npz", "--depth", "x"), "a valid integer"),
        (("zero_g.npz",), "G is zero everywhere"),
        (("zero_x.npz",), "X is zero everywhere"),
        (("zero_y.npz",), "G is zero everywhere"),
        (("nan.npz",), "not finite: 1"),
        (("nan_y.npz",), "not finite"),
        (("one_class.npz", "--loss", "cross-entropy"), "two classes or more"),
        (("halves.npz", "--loss", "cross-entropy"), "whole numbers from 0"),
        (("words.npz",), "use --loss cross-entropy"),
        (("no_points.npz",), "X"),
        (("broken.npz",), "cannot be read"),
        (("many.npz",), "would take about"),
        (("both.npz", "--hours", "1e-9"), "would take about"),
        (("both.npz", "--std", "-1", "--lr", "1"), "must be positive"),
        (("both.npz", "--seed", "-1"), "seed must be 0"),
        (("both.npz", "--hours", "0"), "hours must be positive"),
        (("both.npz", "--loss", "squared"), "leave out --loss"),
        (("words_x.npz",), "real numbers"),
        (("complex.npz",), "real numbers"),
        (("too_large.npz",), "too large or too small together"),
    ],
)
def test_bad_input_is_one_sentence(saddlescope, words, said):
    status, _, error = saddlescope("escape", *words)
    assert status == 2
    assert said in error
    assert error.strip().count("\n") == 0
    assert ".." not in error


@pytest.mark.parametrize("kind", ["npz", "npy", "csv"])
@pytest.mark.parametrize(
    ("inputs", "targets", "loss", "said"),
    [
        (0 * X.T, G[0], "squared", "X is zero"),
        (X.T, 0 * G[0], "squared", "G is zero"),
        (np.where(X.T > 0.9, np.nan, X.T), G[0], "squared", "not finite"),
        (X.T, np.array([0, 2] * 4), "cross-entropy", "Class 1 has no sample"),
        (X.T, np.zeros(8), "cross-entropy", "two classes or more"),
    ],
)
def test_bad_data_are_one_sentence_in_every_format(saddlescope, tmp_path, kind, inputs, targets, loss, said):
    if kind == "npz":
        np.savez(tmp_path / "t.npz", X=inputs, y=targets)
    elif kind == "npy":
        np.save(tmp_path / "t.npy", np.column_stack([inputs, targets]))
    else:
        csv_of(tmp_path / "t.csv", "", [*inputs.T, targets])
    status, _, error = saddlescope("escape", f"t.{kind}", "--loss", loss)
    assert status == 2
    assert said in error
    assert error.strip().count("\n") == 0


def test_squared_loss_and_cross_entropy_by_hand(tmp_path):
    data = read_escape_data(tmp_path / "targets.npz")
    assert pytest.approx(X) == data.X
    assert pytest.approx(G / 4) == data.G
    labels = (1 + G[0].astype(int)) // 2
    np.savez(tmp_path / "labels.npz", X=X.T, y=labels)
    found = read_escape_data(tmp_path / "labels.npz", "cross-entropy").G
    assert found[1] == pytest.approx((0.5 - labels) / 8)
    assert found.sum(axis=0) == pytest.approx(0)


def test_formats_agree(tmp_path):
    labels = np.array([0, 1, 2, 1, 0, 2, 1, 0])
    np.savez(tmp_path / "a.npz", X=X.T, y=labels)
    np.save(tmp_path / "a.npy", np.column_stack([X.T, labels]))
    csv_of(tmp_path / "a.csv", "", [*X, labels])
    csv_of(tmp_path / "named.csv", "class,u,v", [[("ant", "bee", "cat")[k] for k in labels], *X])
    csv_of(tmp_path / "onehot.csv", "", [*X, labels])
    first = read_escape_data(tmp_path / "a.npz", "cross-entropy")
    for name in ("a.npy", "a.csv", "named.csv"):
        other = read_escape_data(tmp_path / name, "cross-entropy")
        assert pytest.approx(first.X) == other.X
        assert pytest.approx(first.G) == other.G
    np.savez(tmp_path / "hot.npz", X=X.T, y=np.eye(3)[labels])
    assert pytest.approx(first.G) == read_escape_data(tmp_path / "hot.npz", "cross-entropy").G


def test_columns_called_g_are_the_gradient(tmp_path):
    csv_of(tmp_path / "g.csv", "a,b,G1,G2", [*X, *G, *(2 * G)])
    found = read_escape_data(tmp_path / "g.csv")
    assert pytest.approx(np.concatenate([G, 2 * G])) == found.G
    assert pytest.approx(X) == found.X


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("1,2\n3\n", "different lengths"),
        ("a,b,y\nred,2,1\n1,2,0\n", "'red'"),
        ("1\n2\n", "one row per"),
        ("1,2,\n3,4,1\n", "y has an empty cell"),
        ("a,b,y\n1,,0\n3,4,1\n", "an empty cell"),
        ("a,b,y\n", "no row below"),
        ("1;2;0\n3;4;1\n", "use commas"),
        ("1\t2\t0\n", "use commas"),
    ],
)
def test_bad_tables_are_one_sentence(tmp_path, text, said):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidInput, match=said):
        read_escape_data(tmp_path / "t.csv")


def test_words_need_cross_entropy(tmp_path):
    csv_of(tmp_path / "w.csv", "a,b,y", [*X, ["red", "blue"] * 4])
    with pytest.raises(InvalidInput, match="cross-entropy"):
        read_escape_data(tmp_path / "w.csv")


NET = [np.ones((3, 2)), np.ones((3, 3)), np.ones((1, 3))]


@pytest.mark.parametrize(
    "bad", [(NET, X.T, G), (NET, X, G[:, :5]), (NET[::-1], X, G), (NET, X, np.ones((3, 8))), (NET[0], X, G), ([], X, G)]
)
def test_weights_that_do_not_fit_are_refused(bad):
    for function in (localized_loss, blow_up_time):
        with pytest.raises(InvalidInput, match="Weights are matrices"):
            function(*bad)


def test_the_origin_never_leaves():
    assert np.isinf(blow_up_time([0 * w for w in NET], X, G))


def test_a_column_whose_name_begins_with_g_is_an_input(saddlescope, tmp_path):
    (tmp_path / "people.csv").write_text("Gender,height,y\n1,2,0\n0,1,1\n1,3,1\n0,2.5,0\n")
    status, out, _ = saddlescope("escape", "people.csv", *FEW)
    assert status == 0
    assert "G as given" not in out


def test_a_line_of_spaces_is_no_point(tmp_path):
    (tmp_path / "t.csv").write_text("1,2,0\n   \n3,4,1\n")
    assert read_escape_data(tmp_path / "t.csv").X.shape == (2, 2)


def test_only_a_proof_says_that_nothing_escapes(saddlescope, tmp_path):
    status, out, _ = saddlescope("escape", "six.npz", "--restarts", "4", "--width", "1", "--json", "--page", "p.html")
    assert status == 0
    assert json.loads(out)["note"] == "no direction was found"
    assert json.loads(out)["status"] == "bounded"
    assert "first-order" not in (tmp_path / "p.html").read_text()


def test_weights_that_have_left_already_are_said_so(saddlescope):
    status, out, _ = saddlescope("escape", "targets.npz", *FEW, "--std", "2", "--lr", "0.1")
    assert status == 0
    assert "use a smaller --std" in out
