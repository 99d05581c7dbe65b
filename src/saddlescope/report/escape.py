"""One plain page for `saddlescope escape`: directions, what is certified, when a run leaves the origin.

It is a single file: the figure is inside, it needs no script, and it reads on a phone.
"""

from base64 import b64encode

from saddlescope.errors import number_of
from saddlescope.report.html import Html, fill, framed, joined

PAGE = """<header><h1>$title</h1>
<p class="soft">$data · $searched · <time>$date</time></p></header>
<main><p><b>$answer</b></p>$time
$figure
<h2>Directions</h2>$directions
<h2>What is certified</h2><p>$certified</p><p class="soft">$certified_means</p>
$steps$meanings
<h2>Make it again</h2><pre><code>$command</code></pre>
<p><small>$versions</small></p></main>"""
FIGURE = """<figure><div class="wide figure" tabindex="0" role="region" aria-label="Figure">
<img src="$image" width="840" height="340" alt="Speeds, and singular values by layer"></div>
<figcaption><small class="phone">The figure scrolls sideways.<br></small>
<small>$caption</small></figcaption></figure>"""
WORDS = '<h2>What the words mean</h2><dl class="meanings">$rows</dl>'
CAPTION = (
    "Left: the share of random restarts that end at each speed. Right: singular values of every layer of the "
    "fastest direction; a single value far from zero is a layer of rank one."
)
CERTIFIED = "A certified speed is proved: no net of this depth, of any width, is faster. Shares come from the search."
BOUNDED = "A search can miss a faster direction. The bound is proved; the best speed lies between the two."
FOUND = "A search can miss a faster direction. For data of this size only their norms give a bound, which says little."
MEANS = {"certified": CERTIFIED, "bounded": BOUNDED, "found": FOUND}
REASONS = {
    "activation cones": "All activation patterns of a neuron on these points were enumerated.",
    "minimax over favourable sets": "All sets of points that a net can favour were bounded, each by a linear program.",
    "closed set of weight vectors": "The bound of depth 3 was carried on to every depth, layer by layer.",
    "output directions": "All directions of the outputs were bounded, by branch and bound.",
    "weights of one sign": "Points where a net loses were left out; depth then gains nothing.",
}
MISSED = "The search found none at this width; a direction may exist."
NECESSARY = "* A residual of zero is necessary here, not sufficient: kinks of this direction depend on each other."
NOTHING = "No direction lowers the localized loss: a net leaves by terms of higher order, if at all."
MEANINGS = {
    "speed": "s in ∇L0(ρ) = −sρ on ‖ρ‖² = L: the rate at which a net along ρ grows.",
    "share": "random restarts that end there; the others are dead, or did not settle.",
    "ranks": "numerical rank of every weight matrix, from the input to the output.",
    "neurons": "neurons that each hidden layer needs.",
    "beyond rank one": "squared singular values but the first, over all, of every weight matrix: 0 for rank one.",
    "ReLU": "‖Zσ − Z‖² / ‖Z‖² of every hidden layer: 0 where the ReLU is the identity.",
    "residual": "‖∇L0 + sρ‖ / ‖sρ‖, with the best slopes of ReLUs at their kinks: 0 at an escape direction.",
}
COLUMNS = tuple(MEANINGS)


def escape_page(facts: dict, figure: bytes, name: str, command: str, date: str) -> str:
    """The page as text.

    **Arguments:**

    - `facts`: what the command prints with --json.
    - `figure`: a PNG.
    - `name`: of the data file.
    - `command`: what was typed.
    - `date`: when.
    """
    title = f"Escape directions of {name}"
    body = fill(
        PAGE,
        title=title,
        data=_data(facts),
        searched=_searched(facts),
        date=date,
        answer=_answer(facts),
        time=fill("<p>$said</p>", said=facts["said_of_time"]) if facts["said_of_time"] else Html(),
        figure=_figure(figure) if facts["directions"] else Html(),
        directions=_directions(facts),
        certified=facts["said_of_bound"],
        certified_means=f"{MEANS[facts['status']]} {REASONS.get(facts['bound_name'], '')}",
        steps=_steps(facts),
        meanings=_meanings() if facts["directions"] else Html(),
        command=command,
        versions=", ".join(f"{k} {v}" for k, v in facts["versions"].items()),
    )
    return framed(title, body)


def _figure(png: bytes) -> Html:
    return fill(FIGURE, image="data:image/png;base64," + b64encode(png).decode(), caption=CAPTION)


def _meanings() -> Html:
    return fill(WORDS, rows=joined(fill("<dt>$w</dt><dd>$m</dd>", w=w, m=m) for w, m in MEANINGS.items()))


def _data(facts) -> str:
    sizes = (number_of(facts[f"{what}s"], what) for what in ("point", "input", "output"))
    return f"{', '.join(sizes)} · {facts['gradient']}"


def _searched(facts) -> str:
    sizes = f"depth {facts['depth']}, width {facts['width']}"
    return f"{sizes}, {number_of(facts['restarts'], 'restart')}, seed {facts['seed']}"


def _answer(facts) -> str:
    if not facts["directions"]:
        return f"{facts['note'].capitalize()}. {NOTHING if facts['status'] == 'certified' else MISSED}"
    best = facts["directions"][0]
    high = [k for k, rank in enumerate(best["ranks"], 1) if rank > 1]
    ranks = "every layer has rank one" if not high else f"rank is above one in layer {', '.join(map(str, high))}"
    return f"The fastest direction has speed {best['speed']:.6g}; {ranks}."


def _directions(facts) -> Html:
    if not facts["directions"]:
        return fill('<p class="soft">$none</p>', none="There is none.")
    head = joined(fill("<th>$c</th>", c=c) for c in COLUMNS)
    rows = [head, *(joined(fill("<td>$c</td>", c=c) for c in _row(d)) for d in facts["directions"])]
    settled = sum(d["share"] for d in facts["directions"])
    rest = max(1 - settled - facts["dead"], 0)
    return fill(
        '<div class="wide" tabindex="0"><table class="numbers">$rows</table></div>'
        '<p class="soft">$dead of the restarts are dead, $rest did not settle. $mark</p>',
        mark="" if all(d["sufficient"] for d in facts["directions"]) else NECESSARY,
        rows=joined(fill("<tr>$r</tr>", r=r) for r in rows),
        dead=f"{facts['dead']:.1%}",
        rest=f"{rest:.1%}",
    )


def _row(d) -> tuple[str, ...]:
    listed = lambda values: ", ".join(f"{v:.2g}" for v in values)  # noqa: E731
    return (
        f"{d['speed']:.9f}" if 1e-3 <= d["speed"] < 1e6 else f"{d['speed']:.8e}",
        f"{d['share']:.1%}",
        "-".join(map(str, d["ranks"])),
        "-".join(map(str, d["widths"])),
        listed(0 if v < 1e-12 else v for v in d["ratios"]),
        listed(d["relu"]),
        f"{d['residual']:.0e}{'' if d['sufficient'] else '*'}",
    )


def _steps(facts) -> Html:
    """The predicted steps, one by one."""
    if not facts["escape_steps"]:
        return Html()
    each = ", ".join("never" if s is None else f"{s:,.0f}" for s in facts["escape_steps"])
    return fill(
        "<h2>Escape time</h2><p>From normal weights of standard deviation $std, at learning rate $lr, ‖Y‖ reaches "
        "$level after these steps of full-batch descent: $each, one number per draw.</p>"
        '<p class="soft">This follows the localized loss from each draw. It needs steps that let the weights grow '
        "little, and no momentum. Near the origin the time grows as $power of the standard deviation.</p>",
        power="minus the logarithm" if facts["depth"] == 2 else f"the power {2 - facts['depth']}",
        std=f"{facts['std']:g}",
        lr=f"{facts['lr']:g}",
        level=f"{facts['escape_level']:.3g}",
        each=each,
    )
