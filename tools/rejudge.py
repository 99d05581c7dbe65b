"""Judge full records again from what is kept of their runs in results/KEY/judged.nc; nothing is trained.

    python tools/rejudge.py [KEY …]

For sentences, checks and notes that changed after the runs. Words that change are printed. The record keeps the commit
of its runs, and names that of the judgement beside it (`judged_by`).
"""

import argparse

from record import ROOT, sum_up, verdicts_file

from saddlescope.claims import judge
from saddlescope.numerics import git_commit
from saddlescope.storage.result_folder import load_results, load_verdicts, save_verdicts
from saddlescope.workflows.evidence import JUDGED
from saddlescope.workflows.find import find_experiment, matching_keys


def rejudge(key):
    """Write the verdicts of today's checks on the recorded runs."""
    experiment, file = find_experiment(key), verdicts_file(key, "full")
    before, about = load_verdicts(file)
    verdicts = judge(experiment.claims, load_results(ROOT / "results" / key / JUDGED))
    if verdicts == before:
        return
    about |= {"title": experiment.title, "where": experiment.source, "judged_by": git_commit()}
    about["untested"] = len(experiment.claims) - len(verdicts)
    save_verdicts(file, verdicts, **about)
    words = {v.sentence: v.word for v in before}
    print(key)
    for v in verdicts:
        if words.get(v.sentence) != v.word:
            print(f"  {words.get(v.sentence, 'new')} → {v.word}: {v.sentence}")


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("keys", nargs="*", default=["all"])
    keys = [k for given in parser.parse_args().keys for k in matching_keys(given)]
    for key in keys:
        if (ROOT / "results" / key / JUDGED).is_file():
            rejudge(key)
    sum_up()


if __name__ == "__main__":
    main()
