#!/usr/bin/env python3
"""update_readme.py FASIM [--check]: fills the blocks of a README that end with `<!-- end -->`. `<!-- fasim … -->` gets the
output of that command; `<!-- peers FILE … -->` a table of what peers.py measured into these CSV files. With --check it
changes nothing and fails if that would change anything."""
import csv
import pathlib
import re
import shlex
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
block = re.compile(r"<!-- (fasim|peers) (.*?) -->\n.*?<!-- end -->", re.DOTALL)


def peers_table(files: list[str]) -> str:
    """A line for each kernel of ours, pass, d and mask: its speed at the longest n, and the peers' times over its own, on
    average over all n and at worst. Implementations of one file were timed in turns; ours comes first."""
    lines = ["| kernel | pass | element | d | mask | TFLOP/s at the longest n | over PyTorch's FA-2 | over cuDNN |", "|" + "---|" * 8]
    for name in files:
        cells: dict[tuple, dict[int, dict[str, dict]]] = {}
        with open(root / name, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                shape = (row["pass"], int(row["d"]), int(row["causal"]))
                cells.setdefault(shape, {}).setdefault(int(row["n"]), {})[row["impl"]] = row
        for (direction, d, causal), by_n in cells.items():
            first = [next(iter(impls.values())) for impls in by_n.values()]
            ours, longest = first[0]["impl"], max(by_n)

            def over(peer: str) -> str:
                ratios = [float(i[peer]["ms_median"]) / float(i[ours]["ms_median"]) for i in by_n.values() if peer in i]
                return f"{sum(ratios) / len(ratios):.2f}× (worst {min(ratios):.2f}×)" if ratios else "–"

            mine = by_n[longest][ours]
            lines.append(f"| {ours} | {direction} | {mine['dtype']} | {d} | {'causal' if causal else 'full'} | "
                         f"{float(mine['tflops']):.0f} ({longest}) | {over('sdpa_flash')} | {over('sdpa_cudnn')} |")
    return "\n".join(lines)


def filled(text: str, fasim: str) -> str:
    def run(match: re.Match) -> str:
        if match[1] == "peers":
            return f"<!-- peers {match[2]} -->\n{peers_table(match[2].split())}\n<!-- end -->"
        done = subprocess.run([fasim, *shlex.split(match[2])], capture_output=True, text=True, check=True)
        return f"<!-- fasim {match[2]} -->\n```\n{done.stdout.strip()}\n```\n<!-- end -->"

    return block.sub(run, text)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    for readme in sorted(root.glob("README.md")) + sorted(root.glob("lessons/*/README.md")) + [root / "assets/measurements/README.md"]:
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
