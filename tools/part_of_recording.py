#!/usr/bin/env python3
"""part_of_recording.py IN OUT --why WHY [--kernel NAME …] [--without PREFIX …]: writes a recording of `fagpu measure` with
only these kernels, and without the counters whose names begin so, and says so, and why, in its protocol. For recordings of
which some counters turned out to have been read wrongly: what is left stays as it was recorded."""
import argparse
import json
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="IN")
    parser.add_argument("target", metavar="OUT")
    parser.add_argument("--why", required=True, help="a sentence")
    parser.add_argument("--kernel", action="append", help="all if left out")
    parser.add_argument("--without", action="append", default=[], metavar="PREFIX")
    options = parser.parse_args()
    with open(options.source, encoding="utf-8") as file:
        recording = json.load(file)
    rows = [row for row in recording["measurements"] if not options.kernel or row["kernel"] in options.kernel]
    dropped = set()
    for row in rows:
        for counters in (row["counters"], row.get("after_flush", {})):
            for name in [name for name in counters if name.startswith(tuple(options.without))]:
                del counters[name]
                dropped.add(name)
    unknown = [prefix for prefix in options.without if not any(name.startswith(prefix) for name in dropped)]
    if not rows or unknown:
        what = f"counter {unknown[0]}*" if unknown else f"kernel {', '.join(options.kernel)}"
        print(f"{options.source} has no {what}; nothing was written.", file=sys.stderr)
        return 1
    recording["measurements"] = rows
    kernels = f"the kernels {', '.join(options.kernel)} of a longer recording" if options.kernel else "a recording"
    without = f" without {', '.join(prefix + '*' for prefix in options.without)}" if options.without else ""
    recording["protocol"] += f" This is {kernels}{without} ({os.path.basename(__file__)}): {options.why}"
    with open(options.target + ".part", "w", encoding="utf-8") as file:
        json.dump(recording, file, indent=1)
        file.write("\n")
    os.replace(options.target + ".part", options.target)
    print(f"{options.target}: {len(rows)} measurements, without {', '.join(sorted(dropped)) or 'nothing'}")
    return 0


sys.exit(main())
