"""The one error a user meets: what was expected, what was given, what to do instead."""

from difflib import get_close_matches


class InvalidInput(ValueError):
    """Bad input or bad science, said in one sentence. The command line prints it and exits with status 2."""


def require(condition, sentence):
    """Raise a InvalidInput with this sentence unless the condition holds."""
    if not condition:
        raise InvalidInput(sentence)


def require_kind(value, kind, expected):
    """As above for a part of the wrong kind; its `repr`, which takes a millisecond, is made only to refuse it."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{expected}; got {value!r}.")


def reason_of(error) -> str:
    """Why something failed: our own sentence, or the error with its kind."""
    return str(error) if isinstance(error, InvalidInput) else f"{type(error).__name__}: {error}"


def nearest(word, words):
    """A hint such as ` Did you mean 'seed'?`, or nothing where no word is near."""
    near = get_close_matches(word, list(words), n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else ""
