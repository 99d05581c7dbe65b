"""Readers of logs that other tools wrote, one file per format.

Each has `fits(path)`, which looks at the name and the first bytes, and `read(path)`, which gives a
`Log`. The first that fits reads.
"""

READERS = (
    "tensorboard",
    "wandb_offline",
    "mlflow_store",
    "trackio_store",
)
