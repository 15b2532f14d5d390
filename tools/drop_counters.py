#!/usr/bin/env python3
"""drop_counters.py IN OUT PREFIX WHY: writes a recording of `fagpu measure` without the counters whose names begin with
PREFIX, and says so, and WHY, in its protocol. For counters that a recording turned out to have read wrongly: the others are
left as they were recorded."""
import json
import os
import sys


def main() -> int:
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    source, target, prefix, why = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        recording = json.load(file)
    dropped = set()
    for row in recording["measurements"]:
        for counters in (row["counters"], row.get("after_flush", {})):
            for name in [name for name in counters if name.startswith(prefix)]:
                del counters[name]
                dropped.add(name)
    if not dropped:
        print(f"{source} has no counter that begins with {prefix}; nothing was written.", file=sys.stderr)
        return 1
    recording["protocol"] += f" Counters {prefix}* were left out afterwards ({os.path.basename(__file__)}): {why}"
    with open(target + ".part", "w", encoding="utf-8") as file:
        json.dump(recording, file, indent=1)
        file.write("\n")
    os.replace(target + ".part", target)
    print(f"{target}: {len(recording['measurements'])} measurements, without {', '.join(sorted(dropped))}")
    return 0


sys.exit(main())
