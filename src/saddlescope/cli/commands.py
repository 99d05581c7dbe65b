"""All commands, in the order of `--help`, and how one ended: what to say, and the exit status."""

import typer

from saddlescope.cli import experiments, train, stages, sweeps, data  # isort: skip  # noqa: F401
from saddlescope.cli.app import Ending, app
from saddlescope.cli.stop import SENTENCE, STATUS
from saddlescope.errors import InvalidInput

ACCESS = "check that it is there, and may be read and written"
SMALLER = "use a smaller width, depth or number of samples"


def outcome(words) -> tuple[str, int]:
    """The sentence for standard error, or "", and the status. Bad input is never a traceback."""
    try:
        status = app(words, standalone_mode=False, prog_name="saddlescope") or 0
        return SENTENCE if status == STATUS else "", status
    except Ending as ending:
        return ending.sentence, ending.status
    except typer.TyperException as error:
        return f"{error.format_message().rstrip('.')}; `{_help(error)}` shows what can be given.", 2
    except InvalidInput as error:
        return str(error), 2
    except OSError as error:
        where = f" at {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{where}: {ACCESS}.", 2
    except MemoryError as error:
        return f"this does not fit into memory ({error}); {SMALLER}.", 2


def _help(error) -> str:
    """The command whose own help describes what was typed wrongly."""
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'saddlescope'} --help"
