"""Linear programs to the solver's finest tolerance, or its usual one where that fails."""

from scipy.optimize import linprog

STEPS = {"maxiter": 5_000, "time_limit": 5.0}  # the simplex method can cycle at fine tolerances
FINE = STEPS | {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def solve_program(cost, rows, limits, bounds):
    """minimise cost·x with rows·x ≤ limits: scipy's result. `status` is 0 where it was solved, 2
    where it cannot be met.

    HiGHS sometimes gives up at 1e-10. What it returns is only ever a proposal: every λ and every
    net is evaluated by itself afterwards, so that a coarser solution costs rounds and not
    correctness.
    """
    given = {"A_ub": rows, "b_ub": limits, "bounds": bounds}
    for method, options in (("highs-ds", FINE), ("highs-ipm", FINE), ("highs-ds", STEPS), ("highs-ipm", STEPS)):
        found = linprog(cost, method=method, options=options, **given)
        if found.status in (0, 2):
            break
    return found
