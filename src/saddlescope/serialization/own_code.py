"""Files and modules of the user's own, imported because the user named them, never because a stored file did.

A file is imported by its stem, with its folder on the path: a worker process inherits the path, so that it can import
the same name, and a stored setting names the same class in every command. Its identity is the hash of its source.
"""

import hashlib
import importlib
import importlib.util
import inspect
import keyword
import os
import re
import sys
import traceback
from pathlib import Path
from types import FunctionType, ModuleType

from saddlescope.errors import InvalidInput, reason_of, require

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of a function inside a value: another one in every process
_imported: dict[str, ModuleType] = {}


def imported_modules() -> dict[str, ModuleType]:
    """Every module that the user asked for so far, by its name."""
    return dict(_imported)


def is_file_name(text: str) -> bool:
    """Whether a word of the command line means a file rather than a module."""
    path = Path(text)
    return path.suffix == ".py" or os.sep in text or (path.suffix != "" and path.is_file())


def import_own(text: str) -> ModuleType:
    """Import a file such as `my_nets.py`, or a module such as `my_lab.nets`."""
    if is_file_name(text):
        return import_module(module_of_file(text), text)
    require(
        find_module(text),
        f"There is no module {text!r} to import: give a file (my_nets.py), or a module below {os.getcwd()}.",
    )
    return import_module(text, text)


def module_of_file(path) -> str:
    """The name by which a file is imported; its folder goes to the end of the path, where it hides no other module."""
    path = Path(path)
    require(path.suffix == ".py", f"{path} is not a Python file: code of your own has the ending .py.")
    require(path.is_file(), f"There is no file {path}.")
    good = path.stem.isidentifier() and not keyword.iskeyword(path.stem)
    require(good, f"{path} cannot be imported: rename it to letters, digits and '_', such as my_nets.py.")
    _add_to_path(path.resolve().parent)
    found = file_of_module(path.stem)
    require(
        found is not None and Path(found).resolve() == path.resolve(),
        f"{path} cannot be imported as {path.stem!r}, because another module has that name ({found}): rename the file.",
    )
    return path.stem


def find_module(name: str) -> bool:
    """Whether a module can be imported, from the current folder too."""
    _add_to_path(Path.cwd())
    return all(part.isidentifier() for part in name.split(".")) and file_of_module(name) is not None


def import_module(name: str, shown: str) -> ModuleType:
    """Import a module of the user's own; what it raises is one sentence."""
    try:
        _imported[name] = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        line = _line_of(error, name)
        raise InvalidInput(f"{shown} cannot be imported{line}: {reason_of(error).rstrip('.')}.") from error
    return _imported[name]


def _add_to_path(folder: Path):
    importlib.invalidate_caches()
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def file_of_module(name: str) -> str | None:
    """Where a module comes from, imported or not; None where there is none."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None) or "built in"
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a package above it is missing, or raises
        return None
    return spec.origin if spec is not None else None


def _line_of(error: BaseException, name: str) -> str:
    """` (line 12)`: the last line of the user's own file on the way to the error."""
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    stem = name.rpartition(".")[2]
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).stem == stem]
    return f" (line {lines[-1]})" if lines else ""


# ---- Its identity ----


def source_hash(thing) -> str:
    """SHA-256 of the source of a class or function."""
    try:
        return hashlib.sha256(inspect.getsource(thing).encode()).hexdigest()
    except (OSError, TypeError):  # typed at a prompt
        raise InvalidInput(
            f"The source of {thing.__qualname__} cannot be read: define it in a file or notebook."
        ) from None


def code_identity(function) -> list:
    """Import path and source of a function, and of everything of its own module that it leans on.

    Other parts of the package have `numerics.VERSION`; values of the module enter as they print.
    """
    seen: dict[str, str] = {}
    _collect_code(function, function.__module__, seen)
    return [f"{function.__module__}.{function.__qualname__}", sorted(seen.items())]


def _collect_code(thing, module, seen):
    name = getattr(thing, "__qualname__", repr(thing))
    if name in seen:
        return
    seen[name] = source_hash(thing)
    functions = vars(thing).values() if isinstance(thing, type) else (thing,)
    for function in functions:
        if not isinstance(function, FunctionType):
            continue
        used = inspect.getclosurevars(function)
        for key, value in {**used.globals, **used.nonlocals}.items():
            own = getattr(value, "__module__", None) == module
            if isinstance(value, FunctionType | type) and own:
                _collect_code(value, module, seen)
            elif not isinstance(value, ModuleType | FunctionType | type):
                seen.setdefault(key, hashlib.sha256(ADDRESS.sub("", repr(value)).encode()).hexdigest())
