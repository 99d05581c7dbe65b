"""One plain page for one result: figure, verdicts, settings, provenance. Opens from disk, reads on a phone."""

import json
from html import escape
from string import Template

from saddlescope.claims import tally
from saddlescope.tables import WAYS

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; color: #111;
  overflow-wrap: anywhere; }
h1 { line-height: 1.2; } img { max-width: 100%; height: auto; } pre { font-size: .8rem; white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid #ddd; }
.yes { color: #00674c; font-weight: 600; white-space: nowrap; }
.no { color: #b03a00; font-weight: 600; white-space: nowrap; }
small { color: #555; }
.wide { overflow-x: auto; } .numbers { font-size: .85rem; } .numbers td, .numbers th { white-space: nowrap; }
@media (max-width: 600px) { table.claims th { display: none; }
  table.claims td { display: block; border: 0; padding: .1rem 0; }
  table.claims tr { display: block; border-bottom: 1px solid #ddd; padding: .6rem 0; } }
"""
FRAME = Template("""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><style>$style</style>
$body
</html>
""")
PAGE = Template("""<h1>$title</h1><p><code>$key</code>, $where · $scale · $runs runs</p>
<p><a href="figure.pdf"><img src="figure.png" alt="$title: figure"></a></p>$film
<h2>Claims</h2><table class="claims"><tr><th>verdict<th>claim<th>evidence</tr>$rows</table>$untested
$tables
<h2>Provenance</h2><p>$provenance</p>
<details><summary>First setting, in full</summary><pre>$setting</pre></details>
<p><small>Data: <a href="results.nc">results.nc</a> (xarray, groups measured and predicted),
<a href="verdicts.json">verdicts.json</a>, <a href="runs.csv">runs.csv</a>.</small></p>""")


MARKS = {"partly": "◐", "cannot tell": "?", "does not hold": "✗"}
CLAIMS = '<table class="claims">'


def framed(title, body) -> str:
    return FRAME.substitute(title=escape(title), style=STYLE, body=body)


def contents(results) -> str:
    """A page that leads to the pages of several experiments; results are (key, title, verdicts, claims not tested)."""
    rows = [
        f'<tr><td><a href="{escape(key)}/index.html">{escape(key)}</a><td>{escape(title)}<td>{tally(verdicts)}'
        f"{f', {untested} not tested' if untested else ''}</tr>"
        for key, title, verdicts, untested in results
    ]
    return framed("Saddlescope results", f"<h1>Saddlescope results</h1>{CLAIMS}{''.join(rows)}</table>")


def page(key, experiment, scale, results, verdicts, tables, about, film=None) -> str:
    """The page as text. It shows what is stored beside it and computes nothing."""
    untested = len(experiment.claims) - len(verdicts)
    first = results.measured["setting"].values[0] if "setting" in results.measured else None
    facts = {**about["versions"], "git commit": about["git_commit"], "CPU seconds": round(about["cpu_seconds"], 1)}
    body = PAGE.substitute(
        key=escape(key), title=escape(experiment.title), where=escape(experiment.where), scale=escape(scale),
        runs=results.measured.sizes["run"], rows="".join(row(v) for v in verdicts), tables="".join(map(shown, tables)),
        provenance=escape(", ".join(f"{k} {v}" for k, v in facts.items())),
        film=moving(film) if film else "",
        untested=f"<p>Not tested here: {untested} of {len(experiment.claims)} claims.</p>" * bool(untested),
        setting=escape(json.dumps(json.loads(str(first)), indent=1)) if first else "Nothing is trained here.",
    )  # fmt: skip
    return framed(f"{key} · {experiment.title}", body)


def moving(film) -> str:
    """The movie beside the page."""
    if film.endswith(".gif"):
        return f'<p><img src="{film}" alt="Movie of the runs" loading="lazy"></p>'
    return f'<p><video src="{film}" controls loop muted style="max-width: 100%"></video></p>'


def shown(table) -> str:
    """A table of the experiment, with its files to take away."""
    head = "".join(f"<th>{escape(c)}" for c in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(c)}' for c in line)}</tr>" for line in table.cells())
    files = ", ".join(f'<a href="table_{table.name}.{kind}">{kind}</a>' for kind in WAYS)
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table class="numbers"><tr>{head}</tr>{rows}</table></div>'
        f"<p><small>{files}</small></p>"
    )


def row(v):
    mark = f'<td class="{"yes" if v.holds else "no"}">{"✓" if v.holds else MARKS[v.word]} {v.word}'
    why = f"<br><b>Why:</b> {escape(v.why)}" if v.why else ""
    claim = f"{escape(v.sentence)}<br><small>{escape(v.where)}</small>"
    return f"<tr>{mark}<td>{claim}<td>{escape(v.numbers)}.{why}</tr>"
