#!/usr/bin/env bash
# check_format.sh [--fix]: are all our C++ and CUDA sources formatted? Exit 77 ("skipped") without clang-format 14,
# because other versions format differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=
for name in clang-format-14 clang-format; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then tool=$name; break; fi
done
if [ -z "$tool" ]; then
  echo "format: skipped, no clang-format 14 (apt-get install clang-format-14)"
  exit 77
fi

sources=()
while IFS= read -r -d '' file; do sources+=("$file"); done < <(find sim kernels viz lessons tests \
  -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 2>/dev/null | sort -z)

if [ "${1:-}" = --fix ]; then
  "$tool" -i "${sources[@]}"
elif said=$("$tool" --dry-run "${sources[@]}" 2>&1) && [ -n "$said" ]; then
  echo "$said" | sed -nE 's/^([^:]+):[0-9]+:[0-9]+: .*/not formatted: \1/p' | uniq -c
  echo "tools/check_format.sh --fix formats them"
  exit 1
fi
