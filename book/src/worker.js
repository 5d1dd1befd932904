// A WebAssembly module in a worker: `ask` hands it a request as text and gives the answer, `stop` ends what it does.
const { ask, stop } = (() => {
  const module = Uint8Array.from(atob(document.getElementById("module").textContent.trim()), (letter) => letter.charCodeAt(0));
  // What runs in the worker; without workers the page runs it itself.
  const executor = (bytes) => {
    let instance = null;
    return (request) => {
      instance ??= new WebAssembly.Instance(new WebAssembly.Module(bytes), {}).exports;
      try {
        const text = new TextEncoder().encode(request);
        // Memory may grow in a call, and then has another buffer: it is asked for last.
        const place = instance.alloc(text.length);
        new Uint8Array(instance.memory.buffer, place, text.length).set(text);
        const [length, result] = [instance.run(), instance.result()];
        return new TextDecoder().decode(new Uint8Array(instance.memory.buffer, result, length));
      } catch (error) {
        instance = null;
        return JSON.stringify({ error: "the module stopped: " + error + "; it begins anew with the next run" });
      }
    };
  };
  const body = `let answer = null;
    onmessage = ({ data }) => {
      if (data.module) answer = (${executor})(data.module);
      else postMessage({ id: data.id, text: answer(data.request) });
    };`;
  let worker = null;
  let direct = null;
  const waiting = new Map();
  let next = 0;
  const start = () => {
    try {
      worker = new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => { waiting.get(data.id)(data.text); waiting.delete(data.id); };
      worker.onerror = () => { worker = null; for (const [id, tell] of waiting) tell(JSON.stringify({ error: "the worker stopped" }), waiting.delete(id)); };
      worker.postMessage({ module });
    } catch {
      worker = null;
      direct = executor(module);
    }
  };
  const ask = (request) => new Promise((tell) => {
    if (!worker && !direct) start();
    if (direct) { tell(direct(request)); return; }
    waiting.set(next, tell);
    worker.postMessage({ id: next, request });
    next += 1;
  });
  const stop = () => {
    if (worker) worker.terminate();
    worker = null;
    for (const tell of waiting.values()) tell(JSON.stringify({ error: "stopped" }));
    waiting.clear();
  };
  return { ask, stop };
})();
