"""Claims that are decided for each of several settings: *partly* names those of which they are true."""

from collections.abc import Iterable, Mapping

from saddlescope.claims import FAILS, HOLDS, PARTLY, UNCLEAR, CheckResult


def word_by_setting(words: Iterable[str]) -> str:
    """Holds or fails if it does so everywhere, partly if it does both; cannot tell otherwise."""
    found = set(words)
    if {HOLDS, FAILS} <= found:
        return PARTLY
    return found.pop() if len(found) == 1 else UNCLEAR


def named_words(words: Mapping[str, str]) -> str:
    """`holds for a, b; does not hold for c`."""
    by_word = {word: [name for name, w in words.items() if w == word] for word in (HOLDS, FAILS, UNCLEAR)}
    return "; ".join(f"{word} for {', '.join(names)}" for word, names in by_word.items() if names)


def decided_by(found: Mapping[str, bool | str], evidence) -> CheckResult:
    """A claim that is true, false or neither (a word) of each of these settings."""
    words = {str(name): w if isinstance(w, str) else (FAILS, HOLDS)[bool(w)] for name, w in found.items()}
    word = word_by_setting(words.values())
    named = f"; {named_words(words)}" if len(words) > 1 and word in (PARTLY, UNCLEAR) else ""
    return CheckResult(word == HOLDS, f"{evidence}{named}", word == PARTLY, word == UNCLEAR)


def if_clear(true, clear, evidence) -> CheckResult:
    """A comparison that is true or false where the difference is beyond chance; else unclear."""
    return CheckResult(bool(true and clear), evidence, unclear=not clear)
