"""What the scripts that time programs share: time, peak memory, and tables in docs/performance.md. Needs Linux."""

import ctypes
import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "performance.md"
SCRIPT = pathlib.Path(sys.argv[0]).stem

# Starts a program once standard input has ended, by when the shell itself is gone.
STARTER = 'exec 3<&0; { read -r go; exec "$@" <&3 3<&-; } <&3 &'
# The number of this request to the kernel, from linux/prctl.h.
PR_SET_CHILD_SUBREAPER = 36


def fail(why):
    sys.exit(f"{SCRIPT}: {why}")


def need_hyperfine():
    if not shutil.which("hyperfine"):
        fail("hyperfine is not on PATH: install it with cargo install hyperfine")


def installed():
    """Installs the program as users do, and says where it is.

    Not the one in `target/release`: a copy that was written in one go is in larger pieces of memory than what a linker
    wrote here and there, and starts faster.
    """
    root = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "installed"
    subprocess.run([ROOT / "scripts" / "install.sh", "--quiet", "--root", root], check=True)
    return str(root / "bin" / "rbenchstat")


def adopt_orphans(on):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def peak(program, paths, out, flags=()):
    """Runs a comparison to `out`; its peak memory in MB.

    A process counts the memory that it had before it became another program, so a child of Python never has less than
    Python. A shell has next to none. It starts the program and ends, and the orphan comes to us, with its own figures.
    """
    adopt_orphans(True)
    try:
        with open(out, "wb") as stdout:
            shell = subprocess.Popen(["sh", "-c", STARTER, "sh", program, *flags, *paths],
                                     stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.DEVNULL)
            shell.wait()
            shell.stdin.close()
            _, status, usage = os.wait4(-1, 0)
    finally:
        adopt_orphans(False)
    if status != 0:
        fail(f"{program} failed on {paths[0]} and others")
    return usage.ru_maxrss / 1024


def times(program, paths, runs, scratch, flags=()):
    """The wall times of `runs` runs, in seconds."""
    export = os.path.join(scratch, "hyperfine.json")
    command = shlex.join([program, *flags, *paths])
    subprocess.run(["hyperfine", "-N", "--style", "none", "--warmup", "1", "--runs", str(max(runs, 2)), "--export-json", export, command],
                   check=True, stdout=subprocess.DEVNULL)
    with open(export, encoding="utf-8") as file:
        return json.load(file)["results"][0]["times"]


def duration(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def table(rows):
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows])


def into_document(name, text):
    """Replaces what stands between the markers of `name` in the document."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = DOCUMENT.read_text(encoding="utf-8")
    before, rest = old.split(begin, 1)
    new = f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}"
    part = DOCUMENT.with_suffix(".part")
    part.write_text(new, encoding="utf-8")
    part.rename(DOCUMENT)


def machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {platform.system()} {platform.release().split('-')[0]}"
