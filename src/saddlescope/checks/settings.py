"""Claims that are decided for each of several settings: *partly* names where they are true."""

from collections.abc import Mapping

from saddlescope.claims import FAILS, HOLDS, PARTLY, UNCLEAR, WORDS, CheckResult, word_by_setting


def named_words(words: Mapping[str, str]) -> str:
    """`holds for a, b; does not hold for c`."""
    found = {word: [name for name, w in words.items() if w == word] for word in WORDS}
    return "; ".join(f"{word} for {', '.join(names)}" for word, names in found.items() if names)


def decided_by(found: Mapping[str, bool | str], evidence: str) -> CheckResult:
    """A claim that is true, false or neither (a word) of each of these settings."""
    words = {str(n): w if isinstance(w, str) else (FAILS, HOLDS)[bool(w)] for n, w in found.items()}
    word = word_by_setting(words.values())
    named = f"; {named_words(words)}" if len(words) > 1 and word in (PARTLY, UNCLEAR) else ""
    return CheckResult(word == HOLDS, f"{evidence}{named}", word == PARTLY, word == UNCLEAR)


def if_clear(true: bool, clear: bool, evidence: str) -> CheckResult:
    """A comparison that is true or false where the difference is beyond chance; else unclear."""
    return CheckResult(bool(true and clear), evidence, unclear=not clear)
