"""What the commands do: run an experiment, judge its results, run a sweep, estimate the cost of one."""
