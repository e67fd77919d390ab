#!/usr/bin/env python3
"""Import recorded runs of `benchstat` into testdata/conformance.

usage: import_cases.py DIR [INTO]

DIR holds one directory a case, named KIND-WHAT:

    args              one argument a line
    stdin             what standard input held, if anything
    expected.stdout
    expected.stderr   with the program's name as `rbenchstat`
    expected.fatal    present where the run ended in a fatal error
    anything else     an input file

Each case goes to INTO/KIND.txt (INTO is testdata/conformance, unless given), in
the form that INTO/README.md describes. A case that is there already is replaced;
the others and all comments stay as they are.
"""
import os
import re
import shlex
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MARKER = re.compile(r"-- (?:(case|file) (.+?)|(stdin|stdout|stderr))( escaped)? --")
EXPECTED = ("args", "stdin", "expected.stdout", "expected.stderr", "expected.fatal")


class Case:
    def __init__(self, name):
        self.name, self.comments, self.args, self.fatal = name, [], [], False
        self.files, self.streams = {}, {}  # the streams are stdin, stdout and stderr


# Escapes

def needs_escapes(data):
    """Whether an editor, or the eye, would not keep these bytes as they are."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return bool(
        data and not data.endswith(b"\n")
        or any(MARKER.fullmatch(line) or line.endswith((" ", "\t")) for line in text.split("\n"))
        or any(not (char.isprintable() or char in "\n\t") for char in text)
    )


def escape(data):
    lines = []
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        marker = MARKER.fullmatch(line)
        body = line.rstrip(" \t")
        out = "".join(map(escape_char, body))
        out += "".join("\\t" if char == "\t" else "\\x20" for char in line[len(body):])
        lines.append("\\x2d" + out[1:] if marker else out)
    # A backslash at the end of a line takes back its line end.
    return "\n".join(lines) + "\\\n" if lines[-1] else "\n".join(lines)


def escape_char(char):
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if char == "\\":
        return "\\\\"
    if char == "\r":
        return "\\r"
    if char == "\t" or char.isprintable():
        return char
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


def unescape(text):
    def byte_of(match):
        escaped = match[1].decode()
        if escaped[0] == "x":
            return bytes([int(escaped[1:], 16)])
        if escaped[0] == "u":
            return chr(int(escaped[2:-1], 16)).encode()
        return {"\\": b"\\", "r": b"\r", "t": b"\t", "n": b"\n", "\n": b""}[escaped]

    return re.sub(
        rb"\\(x[0-9a-f]{2}|u\{[0-9a-f]+\}|[\\rtn\n])",
        byte_of,
        text.encode(),
    )


# Reading

def read_kind(path):
    """The leading comments and the cases of a file, by name."""
    if not os.path.exists(path):
        return [], {}
    preamble, cases, body, case = [], {}, None, None

    def finish(section):
        if section is None:
            return
        key, name, text, escaped = section
        data = unescape("".join(text)) if escaped else "".join(text).encode()
        if key == "file":
            case.files[name] = data
        elif key != "case":
            case.streams[key] = data

    for line in open(path, encoding="utf-8", newline="\n"):
        marker = MARKER.fullmatch(line.rstrip("\n"))
        if marker:
            finish(body)
            key, name, stream, escaped = marker.groups()
            if key == "case":
                case = cases[name] = Case(name)
            body = (key or stream, name, [], bool(escaped))
        elif body is None:
            preamble.append(line)
        elif body[0] == "case":
            read_head(case, cases, line.rstrip("\n"))
        else:
            body[2].append(line)
    finish(body)
    return preamble, cases


def read_head(case, cases, line):
    if line.startswith("#"):
        case.comments.append(line)
    elif line.startswith("with "):
        case.files.update(cases[line[5:]].files)
    elif line == "fatal":
        case.fatal = True
    elif line.startswith("$ rbenchstat"):
        case.args = shlex.split(line)[2:]
    elif line:
        sys.exit(f"{case.name}: not understood: {line}")


def read_recorded(directory):
    case = Case(os.path.basename(directory))
    read = lambda name: open(os.path.join(directory, name), "rb").read()
    names = sorted(os.listdir(directory))
    case.args = read("args").decode().split("\n")[:-1]
    case.fatal = "expected.fatal" in names
    case.streams = {"stdout": read("expected.stdout"), "stderr": read("expected.stderr")}
    if "stdin" in names:
        case.streams["stdin"] = read("stdin")
    case.files = {name: read(name) for name in names if name not in EXPECTED}
    return case


# Writing

def write_kind(path, preamble, cases):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(preamble)
        for index, case in enumerate(cases):
            out.write(f"-- case {case.name} --\n")
            out.writelines(comment + "\n" for comment in case.comments)
            out.write("$ " + shlex.join(["rbenchstat"] + case.args) + "\n")
            if case.fatal:
                out.write("fatal\n")
            lender = best_lender(case, cases[:index])
            if lender:
                out.write(f"with {lender.name}\n")
            for name, data in case.files.items():
                if not (lender and name in lender.files):
                    write_section(out, f"file {name}", data)
            for stream in ("stdin", "stdout", "stderr"):
                if case.streams.get(stream):
                    write_section(out, stream, case.streams[stream])


def best_lender(case, earlier):
    """The earliest case whose inputs are most of this one's, and no others."""
    lent = lambda other: sum(len(data) for data in other.files.values())
    fitting = [other for other in earlier if other.files and other.files.items() <= case.files.items()]
    return max(fitting, key=lent, default=None)


def write_section(out, head, data):
    if needs_escapes(data):
        out.write(f"-- {head} escaped --\n{escape(data)}")
    else:
        out.write(f"-- {head} --\n{data.decode()}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    recorded = sys.argv[1]
    into = sys.argv[2] if len(sys.argv) == 3 else os.path.join(HERE, "..", "testdata", "conformance")
    kinds = {}
    for name in sorted(os.listdir(recorded)):
        if os.path.isdir(os.path.join(recorded, name)):
            kinds.setdefault(name.split("-")[0], []).append(read_recorded(os.path.join(recorded, name)))
    for kind, new in kinds.items():
        path = os.path.join(into, kind + ".txt")
        preamble, cases = read_kind(path)
        for case in new:
            if case.name in cases:
                case.comments = cases[case.name].comments
            cases[case.name] = case
        write_kind(path, preamble, list(cases.values()))
        again = read_kind(path)[1]
        for name, case in cases.items():
            same = vars(again[name]) | {"streams": None} == vars(case) | {"streams": None}
            kept = {stream: data for stream, data in case.streams.items() if data}
            if not (same and again[name].streams == kept):
                sys.exit(f"{path}: {name} does not read back as it was written")
        print(f"{kind}: {len(new)} imported, {len(cases)} in all")


if __name__ == "__main__":
    main()
