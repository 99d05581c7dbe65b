"""The one error a user meets: what was expected, what was given, what to do instead."""

from difflib import get_close_matches


class InvalidInput(ValueError):
    """Bad input or bad science, in one sentence. The command line prints it; its status is 2.

    **Arguments:**

    - the sentence: what was expected, what was given, what to do instead.
    """


def require(condition, sentence):
    """Raise an InvalidInput with this sentence unless the condition holds."""
    if not condition:
        raise InvalidInput(sentence)


def require_kind(value, kind, expected):
    """As above for a part of the wrong kind. Its `repr` takes a millisecond: only for a refusal."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{expected}; got {value!r}.")


def reason_of(error) -> str:
    """Why something failed: our own sentence, or the error with its kind."""
    return str(error) if isinstance(error, InvalidInput) else f"{type(error).__name__}: {error}"


def nearest(word, words):
    """A hint such as ` Did you mean 'seed'?`, or nothing. `fig4` names all keys that end in it."""
    words = list(words)
    near = [w for w in words if w.endswith(f".{word}")]
    near = near or get_close_matches(word, words, n=1, cutoff=0.5)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def number_of(n, noun) -> str:
    """`1 run`, `2 runs`, `1,000 runs`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
