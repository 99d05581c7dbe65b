"""One plain page for `saddlescope meanfield`: the flow of the limit, its error, and nets beside it.

It is a single file: the figure is inside, it needs no script, and it reads on a phone.
"""

from base64 import b64encode

from saddlescope.report.html import Html, fill, framed, joined

PAGE = """<header><h1>$title</h1>
<p class="soft">$what · <time>$date</time></p></header>
<main><p><b>$answer</b></p>$note
$figure
<h2>How it was solved</h2><p>$solved</p><p class="soft">$means</p>
$nets
<h2>Loss over time</h2>$losses
<h2>What the words mean</h2><dl class="meanings">$meanings</dl>
<h2>Make it again</h2><pre><code>$command</code></pre>
<p><small>$versions</small></p></main>"""
FIGURE = """<figure><div class="wide figure" tabindex="0" role="region" aria-label="Figure">
<img src="$image" width="$width" height="310" alt="Loss, outputs, channels and distances"></div>
<figcaption><small class="phone">The figure scrolls sideways.<br></small>
<small>$caption</small></figcaption></figure>"""
CAPTION = (
    "a: loss over time. b: outputs over the input at three times, with the targets. c: channels of the first block; "
    "they lie on each other where one law draws them all."
)
MORE = " d: distance of finite nets to the limit at their own neurons; one dot per net."
SOLVERS = {
    "memory": "Memory form: every average over neurons is a kernel in closed form, so that width is infinite. The "
    "error is that of the steps, from a second run with larger ones.",
    "quadrature": "Quadrature over the mixing law. The error is the difference to a rule of two thirds as many nodes "
    "with larger steps.",
    "particles": "Random particles in mirrored pairs. The error is three standard errors, from 16 parts of them.",
}
MEANINGS = {
    "limit": "the net of infinite width, whose loss and outputs follow without any draw of weights.",
    "time": "gradient flow on n times the gradient, so that it does not depend on the width n.",
    "error": "how far outputs may be from the true limit, as the solver estimates it.",
    "distance": "of a net's trained weights to the limit at the same neurons, the largest over all saved times.",
}
TIMES = 6  # rows of the table of losses


def limit_page(facts: dict, figure: bytes, name: str, command: str, date: str) -> str:
    """The page as text.

    **Arguments:**

    - `facts`: what the command prints with --json.
    - `figure`: a PNG.
    - `name`: of the points.
    - `command`: what was typed.
    - `date`: when.
    """
    title = f"Mean-field limit on {name}"
    body = fill(
        PAGE,
        title=title,
        what=facts["title"],
        date=date,
        answer=_answer(facts),
        note=fill("<p>$note</p>", note=facts["note"]) if facts["note"] else Html(),
        figure=_figure(figure, facts),
        solved=_solved(facts),
        means=SOLVERS[facts["solver"]],
        nets=_nets(facts),
        losses=_losses(facts),
        meanings=joined(fill("<dt>$w</dt><dd>$m</dd>", w=w, m=m) for w, m in MEANINGS.items()),
        command=command,
        versions=", ".join(f"{k} {v}" for k, v in facts["versions"].items()),
    )
    return framed(title, body)


def _answer(facts) -> str:
    loss, end = facts["loss"], facts["time"][-1]
    return f"The loss of the limit goes from {loss[0]:.4g} at time 0 to {loss[-1]:.4g} at time {end:g}."


def _figure(png: bytes, facts) -> Html:
    image = "data:image/png;base64," + b64encode(png).decode()
    panels = 2 + (facts["depth"] > 0) + bool(facts["widths"])
    caption = CAPTION + (MORE if facts["widths"] else "")
    return fill(FIGURE, image=image, width=300 * panels, caption=caption)


def _solved(facts) -> str:
    floor = f"; {facts['on_floor']:.1%} of the time on the shortest step" if facts["on_floor"] else ""
    return f"Solver {facts['solver']}, error {facts['error']:.1e} in the outputs, {facts['steps']:,} steps{floor}."


def _losses(facts) -> Html:
    times = facts["time"]
    rows = sorted({round(k * (len(times) - 1) / (TIMES - 1)) for k in range(TIMES)})
    return _table(("time", "loss"), [(f"{times[k]:.4g}", f"{facts['loss'][k]:.4g}") for k in rows])


def _nets(facts) -> Html:
    """Distances by width, or the times at which nets leave a stationary start."""
    if facts["escape_time"]:
        rows = [(n, f"{t:.3g}") for n, t in facts["escape_time"].items()]
        return fill("<h2>When nets leave</h2>$table", table=_table(("width", "time"), rows))
    if not facts["widths"]:
        return Html()
    rows = [
        (n, *(f"{_root(facts['distance'][name][i]):.3g}" for name in ("rms", "sup", "output")))
        for i, n in enumerate(facts["widths"])
    ]
    slopes = ["–" if s is None else f"{s:.2f}" for s in facts["slope"].values()]
    table = _table(("width", "rms of weights", "largest weight", "largest output"), [*rows, ("slope", *slopes)])
    said = "Root mean squares over nets; theory expects a slope of −1/2 in the width."
    return fill('<h2>Nets beside it</h2>$table<p class="soft">$said</p>', table=table, said=said)


def _root(values) -> float:
    return (sum(v * v for v in values) / len(values)) ** 0.5


def _table(head, rows) -> Html:
    top = joined(fill("<th>$c</th>", c=c) for c in head)
    body = [top, *(joined(fill("<td>$c</td>", c=c) for c in row) for row in rows)]
    lines = joined(fill("<tr>$r</tr>", r=r) for r in body)
    return fill('<div class="wide" tabindex="0"><table class="numbers">$rows</table></div>', rows=lines)
