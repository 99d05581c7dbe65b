"""Log known series with the tools that people use, and keep what they wrote under tests/logs.

    make formats

It runs in an environment of its own, where those tools are installed. `tests/known_series.py` has
the formulas, and `versions.json` records which version wrote what. Databases are stored compressed:
most of their pages are empty.
"""

# pyright: reportMissingImports=false
import contextlib
import gzip
import json
import os
import shutil
import struct
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "tests" / "logs"
sys.path.insert(0, str(ROOT / "tests"))

from known_series import FIRST, RESUMED, accuracy, loss, resumed_loss  # noqa: E402

TOOLS = ("torch", "tensorboard", "wandb", "lightning", "transformers", "trackio", "mlflow")


def write_tensorboard(folder):
    """A run and its resume, one file each: scalars of four forms, and what is no scalar."""
    import torch
    from torch.utils.tensorboard import SummaryWriter, summary

    for part, steps, values in ((1, FIRST, loss), (2, RESUMED, resumed_loss)):
        with SummaryWriter(folder) as writer:
            writer.add_text("note", "not a number", 0)
            writer.add_histogram("weights", torch.arange(10.0), 0)
            writer.add_tensor("one_weight", torch.ones(1), 0)  # a vector, though it has one number
            for step in steps:
                writer.add_scalar("train/loss", values(step), step)
                value, new = values(step), {"new_style": True}
                writer.add_scalar("loss_as_tensor", value, step, **new)
                writer.add_scalar("loss_as_double", value, step, **new, double_precision=True)
                both = {"loss_as_bytes": value, "step_as_bytes": step}
                writer.file_writer.add_summary(_as_tensorflow_writes(summary, both), step)  # type: ignore[union-attr]
        (written,) = folder.glob("events.out.tfevents.*.*.*.*")
        written.rename(folder / f"events.out.tfevents.{part}")  # without the name of this machine


def _as_tensorflow_writes(summary, numbers):
    """One summary of several values, each with its number as the bytes of a tensor."""
    values = []
    for tag, number in numbers.items():
        tensor = summary.TensorProto(dtype="DT_FLOAT", tensor_content=struct.pack("<f", number))
        tensor.tensor_shape.SetInParent()  # of rank 0
        values.append(summary.Summary.Value(tag=tag, tensor=tensor))
    return summary.Summary(value=values)


def write_wandb(folder):
    import wandb

    nothing_of_this_machine = {"host": "host", "disable_git": True, "x_disable_meta": True}
    quiet = {"console": "off", "x_disable_stats": True}
    settings = wandb.Settings(mode="offline", **quiet, **nothing_of_this_machine)
    with tempfile.TemporaryDirectory() as home:
        run = wandb.init(project="known", id="known", dir=home, settings=settings)
        for step in FIRST:
            rest = {"val": {"accuracy": accuracy(step)}} if step % 10 == 0 else {}
            run.log({"loss": loss(step), "count": step, "word": "text" * 8} | rest, step=step)
        run.log({"loss": float("nan")}, step=len(FIRST))
        run.log({"loss": float("inf")}, step=len(FIRST) + 1)
        run.finish()
        wandb.teardown()  # before it, the last records may not be in the file
        (written,) = Path(home).rglob("run-*.wandb")
        shutil.copy(written, folder)


def write_lightning(folder):
    from lightning.pytorch.loggers import CSVLogger

    logger = CSVLogger(folder, name="", version="")
    for step in FIRST:
        logger.log_metrics({"train_loss": loss(step), "epoch": step // 10}, step)
        if step % 10 == 9:
            logger.log_metrics({"val_accuracy": accuracy(step), "epoch": step // 10}, step)
    logger.save()


def write_transformers(folder):
    """A model whose loss is the formula; the trainer logs every step and saves its state."""
    import torch
    from transformers import Trainer, TrainingArguments

    class Known(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.step = torch.nn.Parameter(torch.zeros(1)), 0

        def forward(self, x):
            self.step += 1
            return {"loss": 0 * self.weight.sum() + loss(self.step)}

    with tempfile.TemporaryDirectory() as home:
        steps = {"max_steps": len(FIRST), "save_steps": len(FIRST), "logging_steps": 1}
        rest = {"per_device_train_batch_size": 1, "report_to": [], "use_cpu": True}
        arguments = TrainingArguments(home, disable_tqdm=True, **steps, **rest)
        Trainer(Known(), arguments, train_dataset=[{"x": 0.0}] * 8).train()
        (written,) = Path(home).rglob("trainer_state.json")
        shutil.copy(written, folder)


def write_trackio(folder):
    """Two runs in the database of one project; the second one logs what is not a number, too."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["TRACKIO_DIR"] = home
        import trackio

        for name, values in (("first", loss), ("second", resumed_loss)):
            run = trackio.init(project="known", name=name, embed=False, auto_log_cpu=False)
            for step in FIRST:
                rest = {"val": {"accuracy": accuracy(step)}, "word": "text"}
                run.log({"loss": values(step)} | rest, step=step)
            if name == "second":
                run.log({"loss": float("nan")}, step=len(FIRST))
                run.log({"loss": float("inf")}, step=len(FIRST) + 1)
            run.finish()
        _compress(Path(home) / "known.db", folder)


def write_mlflow(folder):
    """The database of today, and the text files of older versions; the run is resumed once."""
    import mlflow

    with tempfile.TemporaryDirectory() as home, contextlib.chdir(home):
        _log_mlflow(mlflow, f"sqlite:///{home}/mlflow.db")
        _compress(Path(home) / "mlflow.db", folder)
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        _log_mlflow(mlflow, f"file://{home}/mlruns")
        for metrics in Path(home, "mlruns").glob("*/*/metrics"):
            shutil.copytree(metrics, folder / "mlruns" / "0" / "known" / "metrics")


def _log_mlflow(mlflow, uri):
    mlflow.set_tracking_uri(uri)
    with mlflow.start_run(run_name="known") as run:
        for step in FIRST:
            mlflow.log_metrics({"train/loss": loss(step), "accuracy": accuracy(step)}, step=step)
    with mlflow.start_run(run_id=run.info.run_id):
        for step in RESUMED:
            mlflow.log_metric("train/loss", resumed_loss(step), step=step)
        mlflow.log_metric("train/loss", float("nan"), step=RESUMED.stop)
        mlflow.log_metric("train/loss", float("inf"), step=RESUMED.stop + 1)


def _compress(database, folder):
    with gzip.GzipFile(folder / f"{database.name}.gz", "wb", mtime=0) as file:
        file.write(database.read_bytes())


WRITERS = (
    write_tensorboard,
    write_wandb,
    write_lightning,
    write_transformers,
    write_trackio,
    write_mlflow,
)


def main():
    os.environ |= {"HF_HUB_OFFLINE": "1", "MLFLOW_DISABLE_TELEMETRY": "true"}
    os.environ |= {"LOGNAME": "user"}  # mlflow stores who ran it
    for write in WRITERS:
        folder = LOGS / write.__name__.removeprefix("write_")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write(folder)
    versions = {"python": sys.version.split()[0]} | {name: version(name) for name in TOOLS}
    (LOGS / "versions.json").write_text(json.dumps(versions, indent=2) + "\n")


if __name__ == "__main__":
    main()
