"""`saddlescope escape` from the shell: what it reads, prints, draws and refuses."""

import json

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.theory.escape.localized import circle
from saddlescope.workflows.escape_data import read_escape_data

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
        (("both.npz", "--loss", "hinge"), "squared or cross-entropy"),
        (("both.npz", "--figure", "f.txt"), ".png, .pdf or .svg"),
        (("both.npz", "--std", "0.1"), "both --std and --lr"),
        (("both.npz", "--std", "-1", "--lr", "1"), "must be positive"),
    ],
)
def test_bad_input_is_one_sentence(saddlescope, words, said):
    status, _, error = saddlescope("escape", *words)
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
