"""Files that somebody made on purpose: their checksums are right, and still they do no harm."""

import io
import zipfile

import h5py
import numpy as np
import pytest
from cases import minibatch_setting
from test_packed import forged, npy, sealed

from saddlescope.errors import InvalidInput
from saddlescope.observables import FullLoss
from saddlescope.results import Layout
from saddlescope.setting import Setting
from saddlescope.stages import read_curves
from saddlescope.storage import result_folder as store
from saddlescope.storage.files import Damaged, loads, read_checked, write_checked
from saddlescope.storage.netcdf import read_netcdf
from saddlescope.storage.run_file import to_dataset
from saddlescope.sweeps import Folder
from saddlescope.sweeps.plan import read_plan
from saddlescope.training import every, train
from saddlescope.training.checkpoint import DamagedCheckpoint, write_checkpoint
from saddlescope.training.running import RunUnderWay

GOOD = {"dims": {"loss": ["step"]}, "words": {"status": "finished"}, "coords": [], "attrs": {}}
LOSS = {"loss": np.arange(3.0)}
SHARDS = {
    "axes of lists": (LOSS, {"dims": {"loss": [["step"]]}}),
    "no coordinates": (LOSS, {"coords": None}),
    "odd coordinates": (LOSS, {"coords": [[]]}),
    "odd attributes": (LOSS, {"attrs": {"a": [1]}}),
    "attributes of text": (LOSS, {"attrs": "x"}),
    "one axis, two lengths": (LOSS | {"b": np.arange(4.0)}, {"dims": {"loss": ["step"], "b": ["step"]}}),
    "a word called step": (LOSS, {"words": {"step": "x"}}),
    "a word that hides an array": (LOSS, {"words": {"loss": "x"}}),
    "a path": (LOSS | {"a/b": np.ones(())}, {"dims": {"loss": ["step"], "a/b": []}}),
    "no name": (LOSS | {"": np.ones(())}, {"dims": {"loss": ["step"], "": []}}),
    "half a character": (LOSS, {"words": {"status": "\ud800"}}),
    "an end within": (LOSS, {"words": {"status": "a\0b"}}),
    "a loss of text": ({"loss": np.array(["a"])}, {}),
    "a variable called run": (LOSS | {"run": np.ones(())}, {"dims": {"loss": ["step"], "run": []}}),
}


@pytest.mark.parametrize("name", SHARDS)
def test_a_shard_whose_parts_do_not_fit_is_damaged(tmp_path, name):
    arrays, wrong = SHARDS[name]
    run = f"{0:020x}-0-v1"
    folder = Folder(tmp_path)
    write_checked(folder.run_file(run), LOSS, GOOD | {"name": run})
    assert folder.is_intact(run)
    write_checked(folder.run_file(run), arrays, GOOD | wrong | {"name": run})
    assert not folder.is_intact(run)
    with pytest.raises(Damaged):
        to_dataset(read_checked(folder.run_file(run)), "it")


def test_members_that_overlap_are_refused():
    """A small file that says it holds the same megabytes many times."""
    inner = npy(np.zeros(10**6))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("about.json", "{}")
        archive.writestr("a.npy", inner)
        for k in range(50):
            info = zipfile.ZipInfo(f"b{k}.npy")
            first = archive.getinfo("a.npy")
            for field in ("CRC", "compress_size", "file_size", "header_offset"):
                setattr(info, field, getattr(first, field))
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
        archive.comment = b"saddlescope sha256 " + b"0" * 64
    with pytest.raises(InvalidInput, match="overlap"):
        loads(sealed(out.getvalue()[:-83]), "it")


@pytest.mark.parametrize("header", ["(((", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"])
def test_a_header_is_read_by_its_letter(header):
    text = header.encode().ljust(117) + b"\n"
    member = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with pytest.raises(InvalidInput, match="does not begin as numpy's do"):
        loads(forged({"about.json": b"{}", "a.npy": member}), "it")


def test_codes_that_are_no_characters_are_refused():
    wild = np.array([0x110000], np.uint32).view("<U1")
    with pytest.raises(InvalidInput, match="invalid characters"):
        loads(forged({"about.json": b"{}", "a.npy": npy(wild)}), "it")


def test_padding_does_not_fill_the_memory():
    layout = Layout()
    for shape in ((40_000, 0), (0, 40_000)):
        layout.add({"w": (("a", "b"), np.zeros(shape))})
    with pytest.raises(InvalidInput, match="fill the memory"):
        layout.block([])


CHECKPOINTS = {
    "a method": {"history.save": np.ones(2)},
    "text for losses": {"history.losses": np.array(["a"])},
    "one loss": {"history.losses": np.asarray(1.0)},
    "other rates": {"history.lrs": np.ones(33)},
    "another end": {"history.status": np.asarray("nonsense")},
    "beyond the end": {"history.losses": np.ones(900), "history.lrs": np.ones(900)},
    "beyond the budget": {"history.step": np.asarray(10**6)},
    "before the start": {"history.step": np.asarray(-1)},
    "losses of other steps": {"history.pending": np.ones(33)},
    "another net": {"state.0": np.ones((2, 2))},
    "whole numbers": None,
    "saved too often": {"saved.full_loss": np.ones(77)},
}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_that_does_not_fit_is_damaged(tmp_path, name):
    setting, path = minibatch_setting(epochs=40), tmp_path / "c.npz"
    run = RunUnderWay(setting, (FullLoss(),), every(5, 40))
    run.take(*run.stepper.advance(*run.next_call()))
    write_checkpoint(path, run)
    arrays, about = read_checked(path)
    wrong = CHECKPOINTS[name] or {"state.0": arrays["state.0"].astype(int)}
    write_checked(path, arrays | wrong, about)
    with pytest.raises(DamagedCheckpoint):
        train(setting, (FullLoss(),), every(5, 40), checkpoint=path)


def elsewhere(file, path):
    data = file.create_dataset("loss", (32,), "u1", external=[(path, 0, 32)])
    data.make_scale("loss")


def linked(file, path):
    file["loss"] = h5py.ExternalLink(path, "/x")


def virtual(file, path):
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(path, "x", (4,))
    file.create_virtual_dataset("loss", layout).make_scale("loss")


def soft(file, path):
    file.create_dataset("x", data=np.ones(4)).make_scale("x")
    file["loss"] = h5py.SoftLink("/x")


@pytest.mark.parametrize("make", [elsewhere, linked, virtual, soft])
def test_a_netcdf_file_leads_nowhere_else(tmp_path, make):
    secret = tmp_path / "secret"
    if make is elsewhere:
        secret.write_text("root:" * 10)
    else:
        with h5py.File(secret, "w") as file:
            file["x"] = np.arange(4.0)
    with h5py.File(tmp_path / "a.nc", "w") as file:
        make(file, str(secret))
    with pytest.raises(InvalidInput, match=r"is a link|lie in another file"):
        read_curves(tmp_path / "a.nc")


def test_more_than_fits_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.nc", "w") as file:
        file.create_dataset("loss", (10**12,), "f8", chunks=(10**6,), compression="gzip").make_scale("loss")
    with pytest.raises(InvalidInput, match="is intact, but it holds more than"):
        read_netcdf(tmp_path / "a.nc")


def test_results_without_checksums_are_not_ours(tmp_path):
    import xarray as xr

    tree = {name: xr.Dataset({"loss": ("run", [1.0])}) for name in ("measured", "predicted")}
    xr.DataTree.from_dict(tree).to_netcdf(tmp_path / "results.nc", engine="h5netcdf")
    with pytest.raises(InvalidInput, match="carries no checksums"):
        store.load_results(tmp_path / "results.nc")


def test_deep_json_is_refused(tmp_path):
    (tmp_path / store.VERDICTS).write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="does not hold verdicts"):
        store.load_verdicts(tmp_path / store.VERDICTS)
    (tmp_path / store.MANIFEST).write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="damaged"):
        store.load_verdicts(tmp_path / store.VERDICTS)


@pytest.mark.parametrize("value", [10**400, "a\0b", "\ud800", [1], {"a": 1}])
def test_a_plan_with_odd_values_is_damaged(tmp_path, value):
    import hashlib
    import json

    data = json.dumps({"title": "t", "axes": {"a": [value]}, "names": [f"{0:020x}-0-v1"]}).encode()
    path = tmp_path / f"{hashlib.sha256(data).hexdigest()[:20]}.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match="damaged"):
        read_plan(path)


def test_a_file_does_not_choose_a_function_of_python():
    import logging

    from saddlescope.serialization.part import from_json_values, function_form
    from saddlescope.tasks import FunctionTask

    form = Setting.from_json(minibatch_setting().to_json()).json_values()
    task = FunctionTask(lambda x: x, samples=16).json_values() | {"function": function_form(logging.shutdown)}
    with pytest.raises(InvalidInput, match="No imported function"):
        from_json_values(form | {"task": task})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [('step,loss\n0,"1\n1,2\n', "cannot be read as CSV"), ("loss\n1_000\n2\n", "where a number should be")],
)
def test_csv_is_read_by_its_letter(tmp_path, text, sentence):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InvalidInput, match=sentence):
        read_curves(tmp_path / "a.csv")
