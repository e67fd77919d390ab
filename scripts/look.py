#!/usr/bin/env python3
"""Makes pictures of what people see: terminals, pages and comments, at the widths that they have.

    scripts/look.py target/release/rbenchstat FOLDER

Needs Chromium and, for comments, the package cmarkgfm. Nothing is written outside FOLDER.
"""

import fcntl
import html
import os
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

ROWS = [1, 3, 40, 165, 500, 2000]
COLUMNS = [80, 100, 160]
WIDTHS = [390, 768, 1024, 1440]

PACKAGES = ["index", "codec/json", "wal"]
NAMES = ["Encode", "Decode", "Lookup", "Append", "Scan"]
COLOURS = {"31": "bad", "32": "good", "33": "doubt", "1": "bold", "2": "dim"}
TERMINAL = """
body { margin: 0; padding: 12px; font: 14px/1.25 'DejaVu Sans Mono', monospace; background: BACK; color: FRONT; }
pre { margin: 0; font: inherit; } .bad { color: #d33; } .good { color: GOOD; } .doubt { color: DOUBT; }
.bold { font-weight: bold; } .dim { opacity: .6; }
"""
THEMES = {
    "light": {"BACK": "#fff", "FRONT": "#111", "GOOD": "#080", "DOUBT": "#960"},
    "dark": {"BACK": "#111", "FRONT": "#ddd", "GOOD": "#5c5", "DOUBT": "#dc5"},
}
# As GitHub sets a comment.
COMMENT = """
body { margin: 16px; font: 14px/1.5 -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; color: #1f2328; }
h3 { font-size: 1.25em; margin: 0 0 16px; } code { font: 85% monospace; background: #eff1f3; padding: .2em .4em; border-radius: 6px; }
table { display: block; width: max-content; max-width: 100%; overflow: auto; border-collapse: collapse; margin-bottom: 16px; }
th, td { border: 1px solid #d1d9e0; padding: 6px 13px; } tr:nth-child(2n) { background: #f6f8fa; }
blockquote { margin: 0 0 16px; padding: 0 1em; color: #59636e; border-left: .25em solid #d1d9e0; }
pre { background: #f6f8fa; padding: 16px; overflow: auto; } pre code { background: none; padding: 0; }
"""


def write_results(folder, rows):
    """Two sides with `rows` benchmarks in three packages, of which some changed."""
    shared = random.Random(rows)
    benchmarks = []
    for index in range(rows):
        name = f"{NAMES[index % 5]}/size={2 ** (index // 5 % 12)}"
        name += f"/v{index // 60}" if rows > 60 else ""
        factor = shared.choice([1] * 14 + [1.12, 1.3, 0.8, 0.93, 1.03])
        noise = shared.choice([0.01, 0.02, 0.05])
        benchmarks.append((name, 10 ** shared.uniform(1, 6), factor, noise))
    for side in ["old", "new"]:
        own = random.Random(side)
        lines = ["goos: linux", "goarch: amd64"]
        for place, package in enumerate(PACKAGES):
            lines += [f"pkg: example.com/store/internal/{package}", "cpu: Example CPU @ 3.00GHz        "]
            for name, base, factor, noise in benchmarks[place::3]:
                for _ in range(10):
                    time = base * (factor if side == "new" else 1) * own.gauss(1, noise)
                    allocs = int(base / 10) + (1 if factor > 1.2 and side == "new" else 0)
                    lines.append(f"Benchmark{name}-8 1000 {time:.4g} ns/op {int(base)} B/op {allocs} allocs/op")
        (folder / f"{side}-{rows}.txt").write_text("\n".join(lines) + "\n")


def in_terminal(command, columns, folder):
    """What a program prints on a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(command, cwd=folder, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    text = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(leader)
    child.wait()
    return text.decode().replace("\r\n", "\n")


def as_html(text, columns):
    """A terminal's text with its colours, broken where the terminal would break it."""
    lines = []
    for line in text.split("\n"):
        width, broken = 0, ""
        for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
            if piece.startswith("\x1b"):
                codes = piece[2:-1].split(";")
                classes = " ".join(COLOURS[code] for code in codes if code in COLOURS)
                broken += f'<span class="{classes}">' if classes else "</span>" * broken.count("<span")
                continue
            for char in piece:
                if width == columns:
                    broken, width = broken + "\n", 0
                broken, width = broken + html.escape(char), width + 1
        lines.append(broken + "</span>" * (broken.count("<span") - broken.count("</span>")))
    return "<pre>" + "\n".join(lines) + "</pre>"


def browser(*arguments):
    name = next(name for name in ["chromium", "chromium-browser", "google-chrome"] if shutil.which(name))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=2000"]
    subprocess.run([name, *flags, *arguments], check=True, capture_output=True)


def picture(page, width, height, out, dark=False):
    """A page in a window of so many pixels; narrower ones than a window may be stand in a frame."""
    frame = page.with_suffix(f".{width}.frame.html")
    frame.write_text(
        f'<body style="margin:0"><iframe src="{page.name}" style="border:0;width:{width}px;height:{height}px"></iframe>'
    )
    dark_flag = ["--blink-settings=preferredColorScheme=0"] if dark else []
    browser(*dark_flag, f"--screenshot={out}", f"--window-size={max(width, 500)},{height}", frame.as_uri())
    frame.unlink()


def main():
    program = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for rows in ROWS:
        write_results(folder, rows)
    gate = ["-fail-on", "regression"]

    def sides(rows):
        return [f"old-{rows}.txt", f"new-{rows}.txt"]

    for rows in [1, 40, 165, 500]:
        for columns in COLUMNS:
            for kind, flags in {"pretty": ["-format", "pretty"], "gate": [*gate, "-format", "pretty"]}.items():
                text = in_terminal([program, *flags, *sides(rows)], columns, folder)
                (folder / f"{kind}-{rows}-{columns}.txt").write_text(text)
                for theme, colours in THEMES.items():
                    if theme == "dark" and columns != 100:
                        continue
                    style = TERMINAL
                    for name, value in colours.items():
                        style = style.replace(name, value)
                    # The last screen is what somebody sees.
                    last = "\n".join(text.split("\n")[-50:])
                    page = folder / "terminal.html"
                    page.write_text(f"<meta charset=utf-8><style>{style}</style>{as_html(last, columns)}")
                    out = folder / f"{kind}-{rows}-{columns}-{theme}.png"
                    browser(f"--screenshot={out}", f"--window-size={columns * 9 + 24},920", page.as_uri())
                    page.unlink()

    for rows in [1, 40, 500, 2000]:
        page = folder / f"page-{rows}.html"
        subprocess.run([program, "-q", "-out", f"html={page}", *sides(rows)], cwd=folder, stdout=subprocess.DEVNULL)
        for width in WIDTHS:
            picture(page, width, 2000, folder / f"page-{rows}-{width}.png")
        picture(page, 1024, 2000, folder / f"page-{rows}-1024-dark.png", dark=True)
        browser(f"--print-to-pdf={folder / f'page-{rows}.pdf'}", page.as_uri())

    import cmarkgfm

    for rows in [3, 2000]:
        flags = [*gate, "-report-url", "https://example.com/report", "-base-ref", "main", "-head-ref", "topic"]
        command = [program, "-format", "comment", *flags, *sides(rows)]
        text = subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout
        page = folder / f"comment-{rows}.html"
        unsafe = cmarkgfm.Options.CMARK_OPT_UNSAFE
        body = cmarkgfm.github_flavored_markdown_to_html(text, options=unsafe)
        page.write_text(f"<meta charset=utf-8><meta name=viewport content='width=device-width'><style>{COMMENT}</style>{body}")
        for width in [390, 1024]:
            picture(page, width, 1600, folder / f"comment-{rows}-{width}.png")


main()
