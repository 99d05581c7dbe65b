"""Write papers/<paper>/sentences.json from the list of the paper's sentences in docs/<paper>.md.

    python tools/sentences.py [--check]

The list in the docs is the source. Pages read the JSON, since an installed package has no docs.
`--check` writes nothing and exits with status 1 if a file is out of date.
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "src" / "saddlescope" / "papers"
LIST = re.compile(r"<!-- list -->\n(.*?)\n<!-- /list -->", re.DOTALL)
ROW = re.compile(r"\| *([A-Z]\d+) *\|")


def sentences(text: str) -> dict[str, dict[str, str]]:
    """Number → sentence and place of every row of the list; nothing where there is no list."""
    found = LIST.search(text)
    rows = [line for line in found[1].splitlines() if ROW.match(line)] if found else []
    cells = [[_plain(cell) for cell in re.split(r"(?<!\\)\|", row)] for row in rows]
    return {number: {"text": said, "where": where} for _, number, said, where, *_ in cells}


def _plain(cell: str) -> str:
    """A cell without Markdown's marks of emphasis and code."""
    return re.sub(r"(?<!\w)\*(\w[^*]*)\*|`([^`]*)`", r"\1\2", cell.strip()).replace("\\|", "|")


def written() -> dict[Path, str]:
    """File → what it should hold, for every paper whose page has a list."""
    made = {}
    for paper in sorted(path.name for path in PAPERS.iterdir() if (path / "paper.json").is_file()):
        page = ROOT / "docs" / f"{paper}.md"
        if page.is_file() and (found := sentences(page.read_text(encoding="utf-8"))):
            text = json.dumps(found, indent=1, ensure_ascii=False)
            made[PAPERS / paper / "sentences.json"] = f"{text}\n"
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="Write nothing; tell what is stale.")
    check = parser.parse_args().check
    stale = {file: text for file, text in written().items() if _read(file) != text}
    for file, text in stale.items():
        print(f"{file.relative_to(ROOT)} {'is out of date' if check else 'is written'}")
        if not check:
            file.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
