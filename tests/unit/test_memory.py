"""A run that cannot fit into memory is refused before it allocates."""

import subprocess
import sys

import numpy as np
import pytest
from cases import CASES, linear_setting, of_kind, sizes_for

from saddlescope.engines.memory import refuse_too_large
from saddlescope.errors import InvalidInput
from saddlescope.nets import Net, linear_units
from saddlescope.numerics import memory_of_machine
from saddlescope.optimisers import Adam, GradientDescent
from saddlescope.tasks import LinearTeacher

COMMAND = """
import sys
from saddlescope.cli import main
try:
    main()
finally:
    print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]))
"""


@pytest.mark.parametrize("net", of_kind(Net), ids=lambda net: type(net).__name__)
def test_count_of_parameters_is_that_of_the_draw(net):
    inputs, outputs = sizes_for(net)
    drawn = net.init(np.random.default_rng(0), inputs, outputs)
    assert net.parameter_count(inputs, outputs) == sum(w.size for w in drawn.values())


def test_every_kind_of_net_is_counted():
    assert len({type(net) for net in CASES if isinstance(net, Net)}) >= 5


def test_command_refuses_before_it_allocates(tmp_path):
    width = max(10**8, memory_of_machine() // 100)
    words = ["train", "f1_N64_bs8_L1", "--width", str(width), "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "GB" in done.stderr
    assert "use a narrower net" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert int(done.stdout.split()[-1]) < 1_000_000  # kilobytes; the libraries alone take 400,000


def test_weights_and_samples_are_refused_in_python():
    many = memory_of_machine() // 8
    wide = linear_setting(net=linear_units(many, 1e-3))
    for draw in (wide.initial_params, wide.data):
        with pytest.raises(InvalidInput, match="GB"):
            draw()
    task = LinearTeacher(np.eye(2), np.eye(2), samples=many)
    with pytest.raises(InvalidInput, match="fewer samples"):
        linear_setting(task=task).data()


def test_what_an_optimiser_keeps_is_counted():
    """Weights of which three copies fit but not five: descent may try, Adam may not."""
    units = int(memory_of_machine() / 8 / 4 / 4)

    def with_optimiser(optimiser):
        task = LinearTeacher(np.eye(2), np.eye(2))
        return linear_setting(task=task, net=linear_units(units, 1e-3), optimiser=optimiser)

    refuse_too_large(with_optimiser(GradientDescent(0.1)))
    with pytest.raises(InvalidInput, match="optimiser"):
        refuse_too_large(with_optimiser(Adam(0.1)))
