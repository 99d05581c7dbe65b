"""One plain page for one result: figure, claims, tables, settings, origin.

It opens from disk, needs no script, and reads on a phone.
"""

import json
import re
from collections.abc import Mapping, Sequence

from saddlescope.errors import number_of
from saddlescope.report.facts import Origin, RunsSummary, scale_line
from saddlescope.report.html import Html, claim_cards, fill, framed, joined, link
from saddlescope.report.page_data import PageData
from saddlescope.report.paper import Paper
from saddlescope.tables import WAYS, Table

PAGE = """<nav>$back</nav>
<header><h1>$title</h1>
$place<p class="soft"><code>$key</code> · $runs · <time>$date</time></p></header>
<main>$figure$notes
<h2>Claims</h2>$claims
$tables
<h2>Make it again</h2>$command
<h2>Settings</h2>$settings
<h2>Where it comes from</h2>$origin
<p><small>Files: $files</small></p></main>"""
FIGURE = """<figure><div class="wide figure" tabindex="0" role="region" aria-label="Figure">
<img src="figure.png"$size alt="$title: figure"></div>
<figcaption><small class="phone">The figure scrolls sideways.<br></small>$caption
<small>$runs $larger</small></figcaption></figure>"""
SETTING = """<details><summary>Setting of the first run, in full</summary>
<pre>$setting</pre></details>"""
DEFINITION = "<dt>$name</dt><dd>$value</dd>"


def page(data: PageData) -> str:
    """The page as text. It shows what is stored and computes nothing."""
    body = fill(
        PAGE,
        back=link("← all results", "..", "index.html"),
        title=data.title or data.key,
        key=data.key,
        place=_place(data.where, data.paper),
        runs=_runs_line(data.runs),
        date=data.origin.date or "date not stored",
        figure=joined([_figure(data), _movie(data.attachments.movie)]),
        notes=_prose(data.notes),
        claims=claim_cards(data),
        tables=_tables(data.attachments.tables),
        command=_command(data.origin),
        settings=_settings(data.runs),
        origin=_origin(data.origin),
        files=joined((link(name, name) for name in data.attachments.files), " · "),
    )
    return framed(f"{data.key} · {data.title}", body)


# ---- Where it stands, and what is plotted ----


def _place(where: str, paper: Paper | None) -> Html:
    if paper is None:
        return fill('<p class="place">$where</p>', where=where) if where else Html()
    title = fill("<cite>$title</cite>", title=paper.title)
    if paper.link:
        title = fill('<a href="$to">$title</a>', to=paper.link, title=title)
    said = fill("$where · ", where=where) if where else Html()
    template = '<p class="place">$said$title<br><small>$about</small></p>'
    return fill(template, said=said, title=title, about=paper.about)


def _runs_line(runs: RunsSummary) -> str:
    """`full · 80 runs · 20 seeds per setting`; of a part, `part of full: 4 of 80 runs · 1 seed`."""
    return " · ".join(filter(None, (scale_line(runs.scale, runs.number), _seeds(runs))))


def _seeds(runs: RunsSummary) -> str:
    if runs.seeds is None:
        return ""
    least, most = runs.seeds
    seeds = number_of(most, "seed") if least == most else f"{least} to {most} seeds"
    several = any(len(values) > 1 for name, values in runs.axes.items() if name != "seed")
    return f"{seeds} per setting" if several else seeds


def _runs(data: PageData) -> str:
    return ", ".join(filter(None, (number_of(data.runs.number, "run"), _seeds(data.runs)))) + "."


def caption(data: PageData) -> str:
    """The figure's caption as plain text, for a paper or a talk."""
    where = f" ({data.where})" if data.where else ""
    return f"{data.title}{where}. {data.caption} {_runs(data)}\n".replace("`", "")


def _figure(data: PageData) -> Html:
    if data.attachments.figure is None:
        return Html()
    width, height = data.attachments.figure
    paper = "figure.pdf" in data.attachments.files
    return fill(
        FIGURE,
        size=fill(' width="$w" height="$h"', w=width, h=height),
        title=data.title,
        caption=_inline(data.caption),
        runs=_runs(data),
        larger=link("Figure as PDF", "figure.pdf") if paper else Html(),
    )


def _movie(name: str) -> Html:
    if not name:
        return Html()
    if name.endswith(".gif"):
        shown = '<div class="wide"><img src="$name" alt="Movie of the runs" loading="lazy"></div>'
    else:
        shown = '<p><video src="$name" controls loop muted></video></p>'
    return fill(shown, name=name)


def _prose(text: str) -> Html:
    """Paragraphs of a docstring, and its lists."""
    parts = []
    for block in filter(None, re.split(r"\n\s*\n", text.strip())):
        items = [" ".join(item.split()) for item in re.split(r"\n(?=\s*- )", block)]
        parts += [fill("<p>$text</p>", text=_inline(item)) for item in items]
    return joined(parts)


def _inline(text: str) -> Html:
    """A line of a docstring, with code between backticks."""
    pieces = re.split(r"`([^`]+)`", " ".join(text.split()))
    tags = ("$t", "<code>$t</code>")
    return joined(fill(tags[i % 2], t=piece) for i, piece in enumerate(pieces))


# ---- Tables, settings, origin ----


def _tables(tables: Sequence[Table]) -> Html:
    return joined([Html("<h2>Tables</h2>"), *map(_table, tables)]) if tables else Html()


def _table(table: Table) -> Html:
    """A table of the experiment, with its files to take away."""
    rows = [_cells("<th>$cell</th>", table.columns)]
    rows += [_cells("<td>$cell</td>", row) for row in table.cells()]
    return fill(
        '<h3>$title</h3><div class="wide" tabindex="0"><table class="numbers">$rows</table></div>'
        "<p><small>$files</small></p>",
        title=table.title,
        rows=joined(fill("<tr>$row</tr>", row=row) for row in rows),
        files=joined((link(kind, f"table_{table.name}.{kind}") for kind in WAYS), " · "),
    )


def _cells(template: str, row: Sequence[str]) -> Html:
    return joined(fill(template, cell=cell) for cell in row)


def _command(origin: Origin) -> Html:
    if not origin.command:
        return fill('<p class="soft">$text</p>', text="The command is not stored with this result.")
    return fill("<pre><code>$command</code></pre>", command=origin.command)


def _settings(runs: RunsSummary) -> Html:
    """What was varied, and the first run's setting in full."""
    axes = {name: _span(values) for name, values in runs.axes.items()}
    parts = [_definitions(axes)] if axes else []
    if runs.setting:
        parts.append(fill(SETTING, setting=_indented(runs.setting)))
    elif runs.trains is False:
        parts.append(Html("<p>Nothing is trained here.</p>"))
    return joined(parts)


def _span(values) -> str:
    if len(values) < 9:
        return ", ".join(values)
    return f"{values[0]}, {values[1]}, … {values[-1]} ({len(values)} values)"


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _origin(origin: Origin) -> Html:
    seconds = lambda s: None if s is None else f"{s:.1f} s"  # noqa: E731
    facts = {
        "date": origin.date,
        "commit": origin.commit,
        "processor": origin.processor,
        "CPU time": seconds(origin.cpu_seconds),
        "wall time": seconds(origin.wall_seconds),
        "versions": ", ".join(f"{name} {version}" for name, version in origin.versions.items()),
    }
    return _definitions({name: value or "not stored" for name, value in facts.items()})


def _definitions(facts: Mapping[str, str]) -> Html:
    rows = [fill(DEFINITION, name=name, value=value) for name, value in facts.items()]
    return fill("<dl>$rows</dl>", rows=joined(rows))
