// smoke.js FASIM.js: runs the browser build of fasim under node, as CI's proof that it computes and not only compiles.
"use strict";
const {execFileSync} = require("child_process");
const assert = require("assert");

// emscripten 3.1.6 takes node's fetch for a browser's and then fails to read its .wasm.
const flags = process.allowedNodeEnvironmentFlags.has("--experimental-fetch") ? ["--no-experimental-fetch"] : [];
const args = ["compare", "--n", "256", "--d", "64", "--heads", "2", "--json"];
const result = JSON.parse(execFileSync(process.execPath, [...flags, process.argv[2], ...args], {encoding: "utf8"}));

const names = result.programs.map((p) => p.program);
for (const wanted of ["naive", "flash2"]) assert(names.includes(wanted), `no ${wanted} among: ${names}`);
for (const p of result.programs) {
  assert(p.requested_read_bytes > 0, `${p.program} reads nothing`);
  assert.strictEqual(p.requested_read_bytes, p.closed_form_read_bytes, `${p.program}: reads and closed form differ`);
  assert.strictEqual(p.requested_write_bytes, p.closed_form_write_bytes, `${p.program}: writes and closed form differ`);
}
console.log(`${names.length} programs: ${names.join(", ")}`);
