"""Counts of instructions, by valgrind's tool callgrind: they hardly depend on the load, or on which processor it is.

The counted program switches counting on and off itself, so that imports run at a tenth of full speed and not at a
hundredth. It does so by a "client request": instructions that change nothing, which valgrind knows. They are written as
bytes, since no compiler is needed to run Saddlescope. x86-64 only.
"""

import ctypes
import mmap
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# mov rax, rdi; xor edx, edx; four rotations of rdi by 128 bits in all; xchg rbx, rbx; mov rax, rdx; ret
REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
ZERO, DUMP_NAMED, START, STOP = (0x43540000 + n for n in (1, 3, 4, 5))  # of callgrind.h
# One thread, one order of sets, and no more than AVX2: valgrind knows nothing wider.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "NUMBA_CPU_NAME": "znver3",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Haswell",
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2 --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
}
LIMIT = 900  # seconds of wall time: a kernel that is compiled under valgrind, and not read from disk, takes longer


def environment() -> dict[str, str]:
    """Of a counted program. It may write compiled files, or each count would have the compilation of our own in it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | ENVIRONMENT


# ---- In the program that is counted ----


room = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
room.write(REQUEST)
ask_valgrind = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(room)))


def request(number: int, text: bytes = b""):
    words = (ctypes.c_void_p * 6)(number, ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p))
    ask_valgrind(ctypes.addressof(words))


def count(name: str, work: Callable[[], object]):
    """Count the instructions of this call under a name. Outside valgrind it is just called."""
    request(START)
    request(ZERO)
    work()
    request(DUMP_NAMED, name.encode())
    request(STOP)


# ---- In the program that asks for counts ----


def run_natively(*words):
    """Once before it is counted: compiles kernels, and Python's own files."""
    subprocess.run([sys.executable, *map(str, words)], env=environment(), check=True, stdout=subprocess.DEVNULL)


def counted_parts(folder: Path, *words) -> dict[str, int]:
    """The instructions of every part of a Python program that it counts itself."""
    _valgrind(folder, "--instr-atstart=no", *words)
    found = {}
    for file in folder.glob("callgrind.*"):
        text = file.read_text(encoding="utf-8", errors="replace")
        named = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        if named:
            found[named[1]] = _total(text)
        file.unlink()
    return found


def counted_whole(folder: Path, *words) -> int:
    """The instructions of a Python program from its start to its end."""
    _valgrind(folder, "--instr-atstart=yes", *words)
    (file,) = folder.glob("callgrind.*")
    total = _total(file.read_text(encoding="utf-8", errors="replace"))
    file.unlink()
    return total


def _total(text) -> int:
    return int(re.findall(r"^totals: (\d+)", text, re.MULTILINE)[-1])


def _valgrind(folder, option, *words):
    call = ["valgrind", "--tool=callgrind", option, f"--callgrind-out-file={folder}/callgrind.%p"]
    call += [sys.executable, *map(str, words)]
    done = subprocess.run(call, env=environment(), capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise SystemExit(f"{' '.join(call)} failed under valgrind:\n{done.stderr[-3000:]}")
