"""Damage results on purpose, and say which claims hold all the same.

    python tools/damage.py FOLDER …

A folder is one that `saddlescope run` wrote, or results/KEY. For each claim that holds, the damages that it survives
are listed; one that survives all cannot fail, and is marked.
"""

import argparse
from pathlib import Path

from saddlescope.checks.damage import DAMAGES, survived
from saddlescope.storage.result_folder import load_with_facts
from saddlescope.workflows.evidence import JUDGED
from saddlescope.workflows.find import find_experiment


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    for folder in parser.parse_args().folders:
        results, about = load_with_facts(folder / JUDGED if (folder / JUDGED).is_file() else folder)
        print(about["key"])
        for sentence, names in survived(find_experiment(about["key"]).claims, results).items():
            mark = "CANNOT FAIL" if len(names) == len(DAMAGES) else f"survives {', '.join(names) or 'none'}"
            print(f"  {sentence}\n    {mark}")


if __name__ == "__main__":
    main()
