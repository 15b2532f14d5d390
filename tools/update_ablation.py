#!/usr/bin/env python3
"""update_ablation.py [CSV] [--check]: puts the speeds of the steps in kernels/flash3/README.md, between its markers.

CSV is what `fagpu bench --csv` printed with all steps in one run, so that they were timed in turns:

    fagpu bench --pass forward --element bf16 --csv --kernel flash3_wgmma --kernel flash3_specialised \\
        --kernel flash3_pingpong --kernel flash3_overlap --kernel flash3 > kernels/flash3/ablation.csv

That file is read if none is named. With --check nothing is changed, and the exit code is 1 if that would change anything."""
import csv
import pathlib
import re
import sys

folder = pathlib.Path(__file__).resolve().parent.parent / "kernels" / "flash3"
SHORT = 1024  # the length that shows what starting and ending a block costs
block = re.compile(r"<!-- ablation -->\n.*?<!-- end -->", re.DOTALL)


def table(rows: list[dict]) -> str:
    """One line for each step, one column for each head dimension and mask, each at a short and at the longest n."""
    rows = [row for row in rows if row["pass"] == "fwd"]
    if not rows:
        raise ValueError("has no forward pass")
    lengths = sorted({int(row["n"]) for row in rows})
    shown = sorted({min(lengths, key=lambda n: abs(n - SHORT)), lengths[-1]})
    speeds, columns = {}, []
    for row in rows:
        column = (int(row["d"]), int(row["causal"]))
        if column not in columns:
            columns.append(column)
        speeds.setdefault(row["impl"], {})[(*column, int(row["n"]))] = float(row["tflops"])

    lines = [f"TFLOP/s, {rows[0]['dtype']}, 16k tokens, hidden size 2048, at n = {' / '.join(map(str, shown))}."]
    lines += ["", "| step | " + " | ".join(f"d {d}{' causal' if causal else ''}" for d, causal in columns) + " |"]
    lines += ["|---" * (1 + len(columns)) + "|"]
    for name in reversed(speeds):  # bench lists the last step first
        cells = [
            " / ".join(f"{speeds[name][(*column, n)]:.0f}" if (*column, n) in speeds[name] else "–" for n in shown)
            for column in columns
        ]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) > 1 or any(a.startswith("-") for a in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    source = pathlib.Path(arguments[0]) if arguments else folder / "ablation.csv"
    try:
        with open(source, encoding="utf-8", newline="") as file:
            text = table(list(csv.DictReader(file)))
    except (OSError, KeyError, ValueError) as error:
        print(f"update_ablation.py: {source}: {error}; it must be what fagpu bench --csv prints", file=sys.stderr)
        return 1
    readme = folder / "README.md"
    before = readme.read_text(encoding="utf-8")
    after = block.sub(lambda _: f"<!-- ablation -->\n{text}\n<!-- end -->", before)
    if after == before:
        return 0
    if "--check" in sys.argv:
        print(f"{readme.name}: its table is not that of {source}; run tools/update_ablation.py")
        return 1
    readme.write_text(after, encoding="utf-8")
    return 0


sys.exit(main())
