// Asks the executor in WebAssembly what the program was asked, and compares the answers letter by letter.
//   node compare.mjs MODULE PAIRS
import { readFileSync } from "node:fs";

const [module, pairs] = process.argv.slice(2);
const compiled = new WebAssembly.Module(readFileSync(module));
let page = null;
const answer = (request) => {
  page ??= new WebAssembly.Instance(compiled, {}).exports;
  const text = new TextEncoder().encode(request);
  // Memory may grow in a call, and then has another buffer: it is asked for last.
  const place = page.alloc(text.length);
  new Uint8Array(page.memory.buffer, place, text.length).set(text);
  const [length, result] = [page.run(), page.result()];
  return new TextDecoder().decode(new Uint8Array(page.memory.buffer, result, length));
};
let [right, errors] = [0, 0];
const wrong = [];
for (const [request, expected] of JSON.parse(readFileSync(pairs, "utf8"))) {
  let found;
  try {
    found = answer(request);
  } catch (error) {
    found = "stopped: " + error;
    page = null;
  }
  if (found === expected) right += 1;
  else wrong.push(request.slice(0, 120).replaceAll("\n", ", ") + "\n    expected " + expected.slice(0, 300) + "\n    found    " + found.slice(0, 300));
  errors += expected.startsWith('{"error"');
}
console.log(`${right} answers in WebAssembly equal those of the program, ${errors} of them errors`);
if (wrong.length > 0) {
  console.error(`${wrong.length} differ:\n  ` + wrong.slice(0, 5).join("\n  "));
  process.exit(1);
}
