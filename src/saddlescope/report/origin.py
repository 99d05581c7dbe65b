"""Where a result comes from: command, date, commit, processor, versions and cost."""

from dataclasses import dataclass

from saddlescope.report.facts import Facts, number_of, text_of


@dataclass(frozen=True)
class Origin:
    """What made a result. A text that was not stored is empty, a number None.

    **Arguments:**

    - `command`: makes the result again.
    - `date`: when the runs were finished.
    - `commit`: the commit of the source, with `-dirty` if it was changed.
    - `processor`: the model of the processor.
    - `versions`: package → version.
    - `cpu_seconds`, `wall_seconds`: what the runs cost.
    """

    command: str
    date: str
    commit: str
    processor: str
    versions: dict[str, str]
    cpu_seconds: float | None
    wall_seconds: float | None


def origin_of(about: Facts) -> Origin:
    """What is stored about the origin of a result."""
    versions = about.get("versions")
    versions = versions if isinstance(versions, dict) else {}
    return Origin(
        command=text_of(about, "command") or _plain_command(about),
        date=text_of(about, "date"),
        commit=text_of(about, "git_commit"),
        processor=text_of(about, "processor"),
        versions={str(k): str(v) for k, v in versions.items()},
        cpu_seconds=number_of(about, "cpu_seconds"),
        wall_seconds=number_of(about, "wall_seconds"),
    )


def _plain_command(about: Facts) -> str:
    """Of a result that does not store its command: that of the whole scale."""
    scales = {"full": "", "quick": " --quick"}
    known = text_of(about, "scale") in scales and text_of(about, "key")
    return f"saddlescope run {about['key']}{scales[text_of(about, 'scale')]}" if known else ""
