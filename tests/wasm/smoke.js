// smoke.js FASIM.js: runs the browser build of fasim under node, as CI's proof that it computes and not only compiles.
"use strict";
const {execFileSync} = require("child_process");
const assert = require("assert");
const fs = require("fs");
const os = require("os");
const path = require("path");

// emscripten 3.1.6 takes node's fetch for a browser's and then fails to read its .wasm.
const flags = process.allowedNodeEnvironmentFlags.has("--experimental-fetch") ? ["--no-experimental-fetch"] : [];
const args = ["compare", "--n", "256", "--d", "64", "--heads", "2", "--json"];
// Through a file: node may leave before a pipe has taken all of a long output.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fasim-"));
const output = path.join(folder, "out.json");
const file = fs.openSync(output, "w");
execFileSync(process.execPath, [...flags, process.argv[2], ...args], {stdio: ["ignore", file, "inherit"]});
fs.closeSync(file);
const result = JSON.parse(fs.readFileSync(output, "utf8"));
fs.rmSync(folder, {recursive: true});

const names = result.programs.map((p) => p.program);
for (const wanted of ["naive", "flash2"]) assert(names.includes(wanted), `no ${wanted} among: ${names}`);
for (const p of result.programs) {
  assert(p.requested_read_bytes > 0, `${p.program} reads nothing`);
  assert.strictEqual(p.requested_read_bytes, p.closed_form_read_bytes, `${p.program}: reads and closed form differ`);
  assert.strictEqual(p.requested_write_bytes, p.closed_form_write_bytes, `${p.program}: writes and closed form differ`);
}
console.log(`${names.length} programs: ${names.join(", ")}`);
