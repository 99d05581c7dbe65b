"""Count the files and the frames that `saddlescope run simplicity.fig1b --quick` crosses.

    python tools/walk.py                       both counts, and the lists behind them
    python tools/walk.py run KEY --quick       the same for another command

A file counts when one of its functions runs; importing a module does not count. Frames are counted
from the command's own function to the engine's function that asks the optimiser for a direction, both
included; only functions of this package count. One worker is used, so that everything happens in this process.
"""

import os
import sys
import tempfile
from pathlib import Path

import saddlescope
from saddlescope.cli import main

SOURCE = Path(saddlescope.__file__).parent
MOST_FILES, MOST_FRAMES = 42, 11
COMMAND = ("run", "simplicity.fig1b", "--quick")
# Code that Python runs to define something: it belongs to the import, not to the walk.
DEFINING = {"<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}


class Walk:
    """What a trace has seen: the files in the order of their first call, and the stack at the first step.

    **Arguments:**

    - `command`: the name of the command's function, where frames begin to count.
    """

    def __init__(self, command: str):
        self.command = command
        self.files: dict[str, int] = {}
        self.stack: list[str] = []
        self.place: dict[str, str | None] = {}  # file name as Python gives it → path below the package

    def __call__(self, frame, event, _):
        if event != "call" or frame.f_code.co_name in DEFINING or _is_class_body(frame):
            return
        place = self.place_of(frame.f_code.co_filename)
        if place is None or _on_import(frame):
            return
        self.files[place] = self.files.get(place, 0) + 1
        if not self.stack and frame.f_code.co_name == "transform":
            stack = self.frames(frame.f_back)
            self.stack = stack if any(name.endswith(".advance") for name in stack) else []

    def place_of(self, file: str) -> str | None:
        if file not in self.place:
            inside = file.startswith(str(SOURCE) + os.sep)
            self.place[file] = str(Path(file).relative_to(SOURCE)) if inside else None
        return self.place[file]

    def frames(self, frame) -> list[str]:
        """The functions of this package from the command to here."""
        found = []
        while frame is not None:
            if (place := self.place_of(frame.f_code.co_filename)) is not None:
                found.append(f"{place}: {frame.f_code.co_qualname}")
                if frame.f_code.co_name == self.command and place.startswith("cli/"):
                    break
            frame = frame.f_back
        return found[::-1]


def _is_class_body(frame) -> bool:
    return "__qualname__" in frame.f_code.co_names and "__module__" in frame.f_code.co_names


def _on_import(frame) -> bool:
    """Whether a module of this package is being imported: what it calls then is no step of the walk."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(SOURCE)):
            return frame.f_code.co_filename != str(SOURCE / "__main__.py")
        frame = frame.f_back
    return False


def walk(*words: str) -> Walk:
    """Run the command here, in an empty folder, and say what it crossed."""
    seen = Walk(words[0])
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        sys.argv = ["saddlescope", *words]
        sys.setprofile(seen)
        try:
            main()
        except SystemExit as end:
            if end.code not in (0, 1, None):
                raise
        finally:
            sys.setprofile(None)
            os.chdir(here)
    return seen


if __name__ == "__main__":
    found = walk(*(sys.argv[1:] or COMMAND))
    print(f"\nfiles crossed: {len(found.files)} (at most {MOST_FILES})")
    print(*(f"  {place}" for place in found.files), sep="\n")
    print(f"frames from the command to the step: {len(found.stack)} (at most {MOST_FRAMES})")
    print(*(f"  {name}" for name in found.stack), sep="\n")
    sys.exit(len(found.files) > MOST_FILES or len(found.stack) > MOST_FRAMES)
