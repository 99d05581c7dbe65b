"""What the commands do: run an experiment, judge it, run a sweep, estimate its cost."""
