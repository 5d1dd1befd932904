// The playground: the executor as a WebAssembly module in a worker, and what it answers as text and pictures.
{
  const of = (number, noun) => number + " " + noun + (number === 1 ? "" : "s");
  const STOPS = [[86, 137, 232], [60, 178, 186], [112, 186, 84], [226, 164, 60], [222, 96, 150]];
  const colour = (lane) => {
    const place = (lane / 31) * 4;
    const stop = Math.min(Math.floor(place), 3);
    return `rgb(${STOPS[stop].map((from, channel) => Math.round(from + (STOPS[stop + 1][channel] - from) * (place - stop))).join()})`;
  };
  const drawing = (width, height, name, parts) =>
    `<svg class="drawn" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}">${parts.join("")}</svg>`;
  const box = (x, y, w, h, fill, kind) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" class="${kind}" ${fill ? `fill="${fill}"` : ""}/>`;
  const laneBox = (x, y, w, h, lane) =>
    `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${colour(lane)}"><title>lane ${lane}</title></rect>` +
    (w >= 9 && matchMedia("(min-width: 40rem)").matches ? `<text x="${x + w / 2}" y="${y + h / 2 + 2.5}" text-anchor="middle" class="within">${lane}</text>` : "");
  const text = (x, y, words) => `<text x="${x}" y="${y}">${words}</text>`;

  // The sectors that a request of global memory touches, counted from its first cache line if nobody knows where its
  // array begins.
  const sectors = (one, known) => {
    const base = known ? 0 : Math.floor(Math.min(...one.lanes.filter((lane) => lane !== null)) / 128) * 128;
    const pieces = new Map();
    one.lanes.forEach((first, lane) => {
      for (let at = first; first !== null && at < first + one.bytes; at += 32 - (at % 32)) {
        const sector = Math.floor(at / 32);
        if (!pieces.has(sector)) pieces.set(sector, []);
        pieces.get(sector).push([at % 32, Math.min(32 - (at % 32), first + one.bytes - at), lane]);
      }
    });
    const parts = [];
    const sorted = [...pieces].sort(([a], [b]) => a - b);
    sorted.forEach(([sector, used], place) => {
      const [x, y] = [2 + 90 * (place % 4), 14 + 26 * Math.floor(place / 4)];
      parts.push(text(x, y - 3, (known ? "byte " : "byte +") + (32 * sector - base)), box(x, y, 80, 12, "", "faint"));
      for (const [at, bytes, lane] of used) parts.push(laneBox(x + 2.5 * at, y, Math.max(2.5 * bytes - 0.5, 1.5), 12, lane));
      parts.push(box(x, y, 80, 12, "", "quiet through"));
    });
    return drawing(360, 18 + 26 * Math.ceil(sorted.length / 4), "sectors that the warp touches", parts);
  };
  // The wavefronts of a request of shared memory, a row each, over the banks.
  const wavefronts = (one) => {
    const parts = [text(2, 11, "banks 0 to 31, a row for each wavefront")];
    one.passes.forEach((words, row) => {
      const y = 14 + 9 * row;
      for (let bank = 0; bank < 32; bank += 1) parts.push(box(4 + 11 * bank, y, 10, 8, "", "faint"));
      for (const [index, lanes] of words) parts.push(laneBox(4 + 11 * (index % 32), y, 10, 8, 31 - Math.clz32(lanes & -lanes)));
    });
    return drawing(360, 18 + 9 * one.passes.length, "wavefronts of the banks", parts);
  };
  const picture = (one, known) => (one.passes.length > 0 ? wavefronts(one) : sectors(one, known));
  const put = (parent, tag, words, kind) => {
    const element = document.createElement(tag);
    if (words !== undefined) element.textContent = words;
    if (kind) element.className = kind;
    parent.append(element);
    return element;
  };
  const find = (name) => document.getElementById(name);

  // The address box.
  const address = async () => {
    const lines = ["address", "bytes " + find("bytes").value, "active " + (find("active").value.trim() || "1"), "index " + find("index").value];
    const answer = JSON.parse(await ask(lines.join("\n")));
    const [said, drawn] = [find("address-said"), find("address-drawn")];
    drawn.replaceChildren();
    if (answer.error) {
      said.textContent = answer.error;
      return;
    }
    const sentences = [];
    for (const [space, say] of [
      ["global", (one) => `Global memory: ${of(one.traffic.sectors, "sector")}, ${one.traffic.bytes_distinct} of ${32 * one.traffic.sectors} bytes used.`],
      ["shared", (one) => `Shared memory: ${of(one.traffic.wavefronts, "wavefront")}; the bytes need ${one.traffic.wavefronts_ideal}.`],
    ]) {
      const one = answer[space];
      if (one === null) sentences.push("No lane takes part.");
      else if (typeof one === "string") sentences.push(space + " memory: " + one + ".");
      else {
        sentences.push(say(one));
        put(drawn, "div").innerHTML = picture(one, true);
      }
    }
    said.textContent = sentences.join(" ");
  };
  // The address is the page's address, too, so that a link shows what somebody typed.
  const keys = { i: "index", a: "active", b: "bytes" };
  const permalink = () => {
    const typed = new URLSearchParams();
    for (const [key, name] of Object.entries(keys)) if (find(name).value.trim()) typed.set(key, find(name).value);
    history.replaceState(null, "", "#" + typed);
    document.title = `${find("index").value}: what a warp's load moves`;
  };
  const linked = () => {
    const typed = new URLSearchParams(location.hash.slice(1));
    if (!typed.has("i")) return;
    for (const [key, name] of Object.entries(keys)) {
      const [input, value] = [find(name), typed.get(key) || (name === "bytes" ? "4" : "")];
      if (input.tagName !== "SELECT" || [...input.options].some((one) => one.value === value)) input.value = value;
    }
    document.title = `${find("index").value}: what a warp's load moves`;
  };
  linked();
  addEventListener("hashchange", () => {
    linked();
    address();
  });
  const typed = () => {
    permalink();
    return address();
  };
  for (const name of ["index", "active", "bytes"]) find(name).addEventListener("input", typed);
  for (const example of document.querySelectorAll(".example")) {
    example.addEventListener("click", () => {
      find("index").value = example.dataset.index;
      find("active").value = example.dataset.active;
      typed();
    });
  }
  find("link").addEventListener("click", async () => {
    permalink();
    try {
      await navigator.clipboard.writeText(location.href);
      find("link-said").textContent = "copied";
    } catch {
      find("link-said").textContent = "it is in the address bar";
    }
  });

  // Any PTX.
  const row = (table, cells, tag = "td") => {
    const line = put(table, "tr");
    for (const cell of cells) put(line, tag, cell, tag === "td" && typeof cell === "number" ? "figure" : undefined);
  };
  const table = (parent, caption, head) => {
    const made = put(put(parent, "div", undefined, "scroll"), "table");
    put(made, "caption", caption);
    row(put(made, "thead"), head, "th");
    return put(made, "tbody");
  };
  const columns = ["requests", "sectors", "sectors_ideal", "wavefronts", "wavefronts_ideal"];
  const traffic = (counters) => Object.entries(counters).filter(([, one]) => typeof one === "object");
  const launch = async () => {
    const [said, shown] = [find("ptx-said"), find("ptx-shown")];
    const lines = ["ptx", ...["kernel", "grid", "block", "shared"].map((name) => name + " " + find(name).value.trim())];
    lines.push(...find("arguments").value.split("\n").map((line) => line.trim()).filter((line) => line), "text", find("ptx").value);
    said.textContent = "running";
    find("stop").disabled = false;
    const answer = JSON.parse(await ask(lines.join("\n")));
    find("stop").disabled = true;
    shown.replaceChildren();
    if (answer.error) {
      said.textContent = answer.error;
      return;
    }
    const found = answer.findings.length;
    said.textContent = `${answer.kernel}: ${answer.counters.warp_instructions} warp-instructions, ${found === 0 ? "no hazard" : of(found, "hazard")}.`;
    const list = put(shown, "ul");
    for (const one of answer.findings) put(list, "li", one);
    const all = table(shown, "Counters of the launch", ["kind", ...columns]);
    for (const [name, one] of traffic(answer.counters)) row(all, [name, ...columns.map((column) => one[column])]);
    const each = table(shown, "Counters of each line that asks memory for something", ["line", "instruction", ...columns]);
    for (const one of answer.instructions) {
      for (const [, counts] of traffic(one.counters)) row(each, [one.line, one.text, ...columns.map((column) => counts[column])]);
    }
    for (const one of answer.instructions.filter((one) => one.requests.length > 0).slice(0, 12)) {
      put(shown, "h3", `Line ${one.line}: ${one.text}`);
      for (const request of one.requests) put(shown, "div").innerHTML = picture(request, false);
    }
    answer.buffers.forEach((words, index) => put(shown, "p", `Buffer ${index + 1} begins: ${words.join(" ")}`));
    if (answer.printed) put(shown, "pre", answer.printed);
  };
  find("run").addEventListener("click", launch);
  find("stop").addEventListener("click", stop);
  for (const element of document.querySelectorAll("[hidden].needs-script")) element.hidden = false;
  address().then(launch);
}
