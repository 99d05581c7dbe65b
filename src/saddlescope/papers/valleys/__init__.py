"""Low-rank networks learn high-frequency features on loss-landscape valleys.

What the paper offers the laboratory by name: its protocol, for sweep files, and its runs, for
`saddlescope train`. Everything heavy is imported when it is asked for, so that the command line can
look here at once.
"""

import re

RUN_NAME = re.compile(r"f(\d+)_N(\d+)_bs(\d+)_L(\d+)")
RUN_EXAMPLE = "f3_N768_bs8_L2"
TRAIN_HELP = (
    "Names of the valleys paper: f3_N768_bs8_L2 is a sum of 3 cosines, 768 samples, batches of 8, depth 2. Options, "
    "with their defaults: --rank 10 (channels of every bottleneck), --seed 0, --init uniform (or gaussian, mean-field, "
    "mup), --lr 0.01 (learning rate at the start), --clip 1 (largest gradient norm; 0 for no clipping), --momentum "
    "(none), --width 1024 (random features of every block), --epochs 10000, --precision float32, --engine (the fastest "
    "that fits), --allow-aliasing (targets above the Nyquist limit)."
)


def protocol():
    """The function from a point to a setting that `protocol = "valleys"` means in a sweep file."""
    from saddlescope.papers.valleys._protocol import valleys

    return valleys


def setting_by_name(name: str, **options):
    """The setting of a run by its name in the paper; `options` are those of `saddlescope train`, such as rank=10."""
    from saddlescope.papers.valleys._protocol import Name

    return Name.parse(name).by_options(**options)


def train_by_name(name: str):
    """The experiment of one named run, whose axes are its options, and how such a run is summed up."""
    from saddlescope.papers.valleys._train_by_name import named_run

    return named_run(name)
