"""Tables of the docs, made from the stored benchmarks."""

import json
from pathlib import Path

from paper_pages import table

STORED = Path(__file__).parents[1] / "benchmarks"


def stored(name):
    return json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))


def spread(values, digits=".1f"):
    low, middle, high = (format(v, digits) for v in values)
    return f"{middle} ({low} to {high})"


def where(result):
    """One line: the machine that a result comes from, and how busy it was."""
    m = result["machine"]
    versions = {name: m["versions"][name] for name in ("jax", "numba", "numpy", "python")} | (
        {"torch": result["torch"]} if "torch" in result else {}
    )
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    rounds = f" Rounds: {result['rounds']}." if "rounds" in result else ""
    commit = f"{str(m['git_commit'])[:12]}{'' if m['clean'] else ' with changes'}"
    return f"{m['processor']}, {m['cores']} cores, load {m['load']}; {named}; commit {commit}.{rounds}"


def peers():
    """The fused kernel and the programs that a user would write instead."""
    result = stored("engine")
    cases = {name: case for name, case in result["cases"].items() if len(case["peers"]) > 3}
    head = ["program"]
    for name, case in cases.items():
        head += [f"{name}: `{case['run']}`, rank {case['rank']}, µs", "× PyTorch (quartiles)", "of peak"]
    rows = [head]
    for peer in next(iter(cases.values()))["peers"]:
        found = [case["peers"][peer] for case in cases.values()]
        cells = [(f"{r['us']:.1f}", spread(r["over_pytorch"]), f"{r['share_of_peak']:.0%}") for r in found]
        rows.append([peer, *(cell for three in cells for cell in three)])
    return f"{table(*rows)}\n\n{where(result)}"


def speed():
    """The kernel alone at several batch sizes, beside eager PyTorch and the JAX engine."""
    result = stored("engine")
    rows = [("run", "rank", "PyTorch µs", "JAX µs", "fused µs", "fused over PyTorch", "of peak")]
    for c in result["cases"].values():
        torch, jax, fused = (c["peers"][name] for name in ("PyTorch", "JAX engine", "fused"))
        times = (f"{torch['us']:.0f}", f"{jax['us']:.0f}", f"{fused['us']:.1f}")
        ratio, share = f"{fused['over_pytorch'][1]:.0f} ×", f"{fused['share_of_peak']:.0%}"
        rows.append((f"`{c['run']}`", c["rank"], *times, ratio, share))
    two = f"Two runs on two cores over one: {spread(result['two_cores'], '.2f')}."
    return f"{table(*rows)}\n\n{two} Peak of the core: {result['peak_gflops']:.0f} GFlop/s in single precision."


def adam():
    result = stored("adam")
    rows = [("net and batch", "JAX engine µs", "fused µs", "fused over JAX (quartiles)", "at the peak, µs")]
    for name, case in result["cases"].items():
        us, ratio = case["us"], case["fused_over_jax"]
        fused = ("not fused", "") if case["not_fused"] else (f"{us['fused']:.0f}", spread(ratio))
        rows.append((name, f"{us['JAX engine']:.0f}", *fused, f"{case['least_us']:.0f}"))
    return f"{table(*rows)}\n\n{where(result)}"


def end_to_end():
    result = stored("end_to_end")
    head = ("run", "rank", "PyTorch s", "ours s", "× PyTorch (quartiles)", "rest of the command s", "without figure s")
    rows = [head]
    for c in result["cases"].values():
        seconds = [spread(c[key], ".2f") for key in ("torch_s", "ours_s")]
        rest = [spread(c[key], ".2f") for key in ("fixed_s", "fixed_without_figure_s")]
        rows.append((f"`{c['run']}`", c["rank"], *seconds, spread(c["torch_over_ours"]), *rest))
    return f"{table(*rows)}\n\n{where(result)}"


def growth():
    result = stored("growth")
    rows = [("cost in", "exponent (quartiles)", "fitted over", "allowed", "met", "why")]
    for name, g in result["growth"].items():
        low, high = g["quartiles"]
        exponent, sizes = spread((low, g["exponent"], high), ".2f"), "{:,} to {:,}".format(*g["fitted"])
        rows.append((name, exponent, sizes, f"{g['most']:.2f}", "yes" if g["met"] else "**no**", g["why"]))
    return f"{table(*rows)}\n\n{where(result)}"


def counts():
    result = stored("counts")
    rows = [("what", "instructions"), *((name, f"{n:,}") for name, n in result["counts"].items())]
    rise = f"A rise by more than {result['allowed_rise']:.0%} fails."
    return f"{table(*rows)}\n\n{rise} {where(result)}"


TABLES = {"peers": peers, "end_to_end": end_to_end, "adam": adam, "growth": growth, "counts": counts}
