#!/usr/bin/env python3
"""update_readme.py FASIM [--check]: runs the command in each `<!-- fasim … -->` comment of a README and puts its
output below, up to `<!-- end -->`. With --check it changes nothing and fails if that would change anything."""
import pathlib
import re
import shlex
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
block = re.compile(r"<!-- fasim (.*?) -->\n.*?<!-- end -->", re.DOTALL)


def filled(text: str, fasim: str) -> str:
    def run(match: re.Match) -> str:
        done = subprocess.run([fasim, *shlex.split(match[1])], capture_output=True, text=True, check=True)
        return f"<!-- fasim {match[1]} -->\n```\n{done.stdout.strip()}\n```\n<!-- end -->"

    return block.sub(run, text)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for readme in sorted(root.glob("README.md")) + sorted(root.glob("lessons/*/README.md")):
        before = readme.read_text(encoding="utf-8")
        after = filled(before, sys.argv[1])
        if after == before:
            continue
        if sys.argv[2:] == ["--check"]:
            stale.append(readme.relative_to(root))
        else:
            readme.write_text(after, encoding="utf-8")
    for readme in stale:
        print(f"{readme}: its numbers are not what fasim prints; run tools/update_readme.py FASIM")
    return 1 if stale else 0


sys.exit(main())
