#!/usr/bin/env bash
# get_imgui.sh DEST: puts the sources of Dear ImGui and ImPlot into DEST/imgui and DEST/implot.
# They come from the source distribution of a Python binding that carries both, unchanged and matching. The checksum
# below is the only thing that is trusted. Prints one line on failure, exits 1, and then leaves nothing behind.
set -euo pipefail

dest=${1:?usage: get_imgui.sh DEST}
package=py-imgui-redux version=7.0.1
sha256=86233bced274316d287f8fa5aca624ecedcafb5ebcf8bd9a53cb9176be86bdd8

stamp=$dest/$package-$version
[ -e "$stamp" ] && exit 0

say() { echo "get_imgui.sh: $*" >&2; exit 1; }

for python in python3 /usr/bin/python3 none; do
  "$python" -m pip --version >/dev/null 2>&1 && break
done
[ "$python" != none ] || say "no pip (apt-get install python3-pip)"

# Beside DEST, so that the last step is a rename.
mkdir -p "$dest"
work=$(mktemp -d "$dest/.get_imgui.XXXXXX")
trap 'rm -rf "$work"' EXIT

fetch() {
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$package" \
    --dest "$work" "$package==$version" >"$work/log" 2>&1
}
fetch || { sleep 2; fetch; } || { sleep 5; fetch; } || say "pip download $package==$version: $(tail -n 1 "$work/log")"

archive=$(echo "$work"/*.tar.gz)
echo "$sha256  $archive" | sha256sum --check --status || say "$package==$version has a wrong checksum"
tar -xzf "$archive" -C "$work" --strip-components=2 --wildcards '*/third-party/imgui/*' '*/third-party/implot/*'

rm -rf "$dest/imgui" "$dest/implot"
mv "$work/imgui" "$work/implot" "$dest/"
touch "$stamp"
