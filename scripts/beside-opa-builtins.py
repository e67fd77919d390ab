#!/usr/bin/env python3
"""Lists which of OPA's built-in functions bench-harness knows, as a Markdown table: each is called in a policy of its own.

    scripts/beside-opa-builtins.py [--opa opa] [--harness target/release/bench-harness]
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opa", default="opa")
    parser.add_argument("--harness", default=os.path.join(ROOT, "target", "release", "bench-harness"))
    options = parser.parse_args()
    if not shutil.which(options.opa):
        print("beside-opa-builtins: skipped, there is no opa")
        return
    capabilities = subprocess.run([options.opa, "capabilities", "--current"], check=True, stdout=subprocess.PIPE)
    missing, known = {}, 0
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "b"))
        requests = os.path.join(directory, "r.jsonl")
        with open(requests, "w") as file:
            file.write('{"method": "GET", "path": "/", "expected": true}\n')
        for builtin in sorted(json.loads(capabilities.stdout)["builtins"], key=lambda builtin: builtin["name"]):
            name = builtin["name"]
            # Operators have signs of their own.
            if builtin.get("infix") or name.startswith("internal.") or name == "print":
                continue
            arguments = ", ".join(f"input.a{index}" for index in range(len(builtin["decl"].get("args", []))))
            with open(os.path.join(directory, "b", "p.rego"), "w") as file:
                file.write(f"package a\ndefault allow = true\nallow = false if {{\n  {name}({arguments}) == 1\n}}\n")
            refused = []
            for engine in ["interpreter", "rvm"]:
                ran = subprocess.run(
                    [options.harness, "--bundle", os.path.join(directory, "b"), "--decision", "a/allow", "--requests",
                     requests, "-benchtime", "1x", "-warmup", "0", "-cpu", "1", "-percentiles", "", "-engine", engine,
                     "-bench", "/./no"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                if ran.returncode != 0:
                    refused.append(engine)
                    if name not in ran.stderr or "p.rego:4" not in ran.stderr:
                        print(f"beside-opa-builtins: {name} with {engine} is refused without its place: {ran.stderr.strip()}")
            if refused:
                missing.setdefault(" and ".join(refused), []).append(name)
            else:
                known += 1
    print(f"{known} of OPA's functions are known to both engines.\n\n| refused by | functions |\n| --- | --- |")
    for engines, names in sorted(missing.items()):
        print(f"| {engines} | {', '.join(f'`{name}`' for name in names)} |")


if __name__ == "__main__":
    main()
