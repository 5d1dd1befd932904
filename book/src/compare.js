// Asks the executor in this page what the program was asked, and compares the answers letter by letter.
const text = (id) => document.getElementById(id).textContent;
const bytes = Uint8Array.from(atob(text("module")), (letter) => letter.charCodeAt(0));
const compiled = new WebAssembly.Module(bytes);
let page = null;
const answer = (request) => {
  page ??= new WebAssembly.Instance(compiled, {}).exports;
  const asked = new TextEncoder().encode(request);
  // Memory may grow in a call, and then has another buffer: it is asked for last.
  const place = page.alloc(asked.length);
  new Uint8Array(page.memory.buffer, place, asked.length).set(asked);
  const [length, result] = [page.run(), page.result()];
  return new TextDecoder().decode(new Uint8Array(page.memory.buffer, result, length));
};
let [right, errors] = [0, 0];
const wrong = [];
for (const [request, expected] of JSON.parse(text("pairs"))) {
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
const told = [`${right} answers in WebAssembly equal those of the program, ${errors} of them errors`];
if (wrong.length > 0) told.push(`${wrong.length} differ:`, ...wrong.slice(0, 5));
document.getElementById("told").textContent = told.join("\n  ");
// What is read is the answer, and not what was asked.
document.getElementById("module").remove();
document.getElementById("pairs").remove();
