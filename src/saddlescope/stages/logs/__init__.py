"""Readers of logs that other tools wrote, one file per format."""

from saddlescope.stages.logs import mlflow_store, tensorboard, trackio_store, wandb_offline

READERS = (tensorboard, wandb_offline, mlflow_store, trackio_store)
