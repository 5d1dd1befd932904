// Draws the widgets. Counts are looked up in what the executor wrote into the page; nothing here computes one.
{
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const count = (text, index) => LETTERS.indexOf(text[index]);
  const of = (number, noun) => number + " " + noun + (number === 1 ? "" : "s");
  const lanes = [...Array(32).keys()];
  // The colours of the pictures: from blue over green and yellow to magenta.
  const STOPS = [[86, 137, 232], [60, 178, 186], [112, 186, 84], [226, 164, 60], [222, 96, 150]];
  const colour = (lane) => {
    const place = (lane / 31) * 4;
    const stop = Math.min(Math.floor(place), 3);
    return `rgb(${STOPS[stop].map((from, channel) => Math.round(from + (STOPS[stop + 1][channel] - from) * (place - stop))).join()})`;
  };
  const svg = (width, height, name) => {
    const parts = [];
    const at = (x, y, w, h) => `x="${x}" y="${y}" width="${w}" height="${h}"`;
    return {
      box: (x, y, w, h, fill, kind = "", title = "") => parts.push(
        `<rect ${at(x, y, w, h)} class="${kind}" ${fill ? `fill="${fill}"` : ""}${title ? `><title>${title}</title></rect>` : "/>"}`),
      text: (x, y, text, anchor = "start", kind = "") => parts.push(`<text x="${x}" y="${y}" text-anchor="${anchor}" class="${kind}">${text}</text>`),
      line: (points, stroke) => parts.push(`<polyline points="${points}" fill="none" stroke="${stroke}"/>`),
      dot: (x, y, r, fill, title) => parts.push(`<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}"><title>${title}</title></circle>`),
      done: () => `<svg class="drawn" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}">${parts.join("")}</svg>`,
    };
  };
  // Where there is room for a number in each box.
  const isWide = () => matchMedia("(min-width: 40rem)").matches;
  // Numbers above a row of 32 boxes, each `step` wide.
  const numbers = (picture, left, step, y) => {
    for (const lane of [0, 4, 8, 12, 16, 20, 24, 28, 31]) picture.text(left + step * lane, y, lane, "middle", "small");
  };
  const ordered = {
    ascending: (lane) => lane,
    reversed: (lane) => 31 - lane,
    xor: (lane) => lane ^ 21,
    scrambled: (lane) => (13 * lane + 7) % 32,
  };

  const widgets = {
    lanes(data, at) {
      const width = Number(at.width.text);
      const order = ordered[at.order.text];
      const index = [1, 2, 4, 8, 16].indexOf(width);
      const sectors = count(data.sectors, (index * 34 + at.stride) * 33 + at.offset);
      const distinct = Number(data.distinct.split(",")[index * 34 + at.stride]);
      const firsts = lanes.map((lane) => width * (at.offset + at.stride * order(lane)));
      const touched = [...new Set(firsts.map((first) => Math.floor(first / 32)))].sort((a, b) => a - b);
      const rows = Math.ceil(touched.length / 4);
      const picture = svg(360, 53 + 26 * rows, "sectors that a warp touches");
      numbers(picture, 42.5, 10, 11);
      picture.text(2, 22, "lanes");
      for (const lane of lanes) picture.box(38 + 10 * lane, 14, 9, 9, colour(lane), "", "lane " + lane);
      touched.forEach((sector, place) => {
        const [x, y] = [2 + 90 * (place % 4), 47 + 26 * Math.floor(place / 4)];
        picture.text(x, y - 3, "bytes " + 32 * sector);
        picture.box(x, y, 80, 12, "", "faint");
        firsts.forEach((first, lane) => {
          if (Math.floor(first / 32) !== sector) return;
          picture.box(x + 2.5 * (first % 32), y, Math.max(2.5 * width - 0.5, 1.5), 12, colour(lane), "", `lane ${lane}, byte ${first}`);
          if (width >= 4 && isWide()) picture.text(x + 2.5 * (first % 32) + 1.25 * width, y + 8.5, lane, "middle", "within");
        });
        picture.box(x, y, 80, 12, "", "quiet through");
      });
      const used = Math.round((1000 * distinct) / (32 * sectors)) / 10;
      return [picture.done(), `${of(sectors, "sector")} for ${of(distinct, "byte")}: ${used} % of what moves is used.`];
    },

    banks(data, at) {
      const width = Number(at.width.text);
      const kind = [4, 8, 16].indexOf(width);
      const swizzle = at.swizzle.text === "yes" ? 1 : 0;
      const wavefronts = count(data.wavefronts, ((kind * 2 + swizzle) * 3 + at.pad) * 34 + at.stride);
      const least = Number(data.ideal.split(",")[kind]);
      const columns = lanes.map(() => new Map());
      for (const lane of lanes) {
        const [row, column] = [Math.floor((at.stride * lane) / 32), (at.stride * lane) % 32];
        const first = (row * (32 + at.pad) + (swizzle ? column ^ (row % 32) : column)) * (width / 4);
        for (let word = first; word < first + width / 4; word += 1) {
          if (!columns[word % 32].has(word)) columns[word % 32].set(word, lane);
        }
      }
      const highest = Math.max(...columns.map((column) => column.size));
      const step = Math.min(9, 200 / highest);
      const picture = svg(360, 36 + step * highest, "words of each bank");
      picture.text(2, 11, "the words that the lanes want from each bank");
      columns.forEach((column, bank) => {
        [...column].forEach(([word, lane], place) => {
          picture.box(4 + 11 * bank, 14 + step * (highest - 1 - place), 10, step - 0.5, colour(lane), "", `bank ${bank}, word ${word}, lane ${lane}`);
        });
        picture.box(4 + 11 * bank, 16 + step * highest, 10, 3, "", "quiet");
      });
      numbers(picture, 9, 11, 30 + step * highest);
      const more = wavefronts - least;
      const said = `${of(wavefronts, "wavefront")}; the bytes need ${least}, so ${more === 0 ? "there is no conflict" : of(more, "more is a conflict").replace("conflicts", "conflict")}.`;
      return [picture.done(), more > 1 ? said.replace("more is a conflict", "more are conflicts") : said];
    },

    tile(data, at) {
      const layout = at.layout.index;
      const bank = (row, column) => count(data.banks, layout * 1024 + row * 32 + column);
      const chosen = bank(at.row, at.column);
      const [row, column] = data.costs.split(",")[layout].split(" ").map(Number);
      const picture = svg(360, 364, "a tile of 32 by 32 words");
      for (const y of lanes) {
        for (const x of lanes) {
          const is = y === at.row && x === at.column;
          picture.box(4 + 11 * x, 4 + 11 * y, 10, 10, bank(y, x) === chosen ? colour(chosen) : "", bank(y, x) === chosen ? "" : "faint");
          if (is) picture.box(3 + 11 * x, 3 + 11 * y, 12, 12, "", "quiet");
        }
      }
      return [picture.done(), `Row ${at.row}, column ${at.column}: bank ${chosen}. Reading a row takes ${of(row, "wavefront")}, reading a column ${column}.`];
    },

    reduction(data, at) {
      const [active, warps, wavefronts] = data.counts.split("|")[at.way.index].split(";")[at.level - 1].split(" ").map(Number);
      const distance = at.way.text === "sequential" ? 256 >> at.level : 1 << (at.level - 1);
      const works = [
        (thread) => thread % (2 * distance) === 0,
        (thread) => 2 * distance * thread < 256,
        (thread) => thread < distance,
      ][at.way.index];
      const picture = svg(360, 100, "threads of eight warps");
      for (let thread = 0; thread < 256; thread += 1) {
        const [x, y] = [4 + 11 * (thread % 32), 4 + 12 * Math.floor(thread / 32)];
        picture.box(x, y, 10, 10, works(thread) ? colour(thread % 32) : "", works(thread) ? "" : "faint");
      }
      return [picture.done(), `Level ${at.level}: ${of(active, "thread")} in ${of(warps, "warp")}, ${of(wavefronts, "wavefront")} for the load.`];
    },

    timeline(data, at, box) {
      const figure = box.querySelectorAll(".states figure")[at.variant.index];
      return [figure.querySelector("svg").outerHTML, figure.dataset.said];
    },

    pieces(data, at) {
      const state = ((at.bytes.index * 5 + at.kernels / 50) * 3 + at.streams - 1) * 12 + at.pieces - 1;
      // A state has six numbers of two letters for each piece, and those before it have 1 to 12 pieces.
      const first = 12 * (Math.floor(state / 12) * 78 + ((at.pieces - 1) * at.pieces) / 2);
      const part = (index) => (64 * count(data.times, first + 2 * index) + count(data.times, first + 2 * index + 1)) / 4095;
      const lengths = data.lengths.split(",").map(Number);
      const alone = lengths[state - (at.streams - 1) * 12 - at.pieces + 1];
      const rows = ["H2D", "kernel", "D2H"];
      const busy = [0, 0, 0];
      const picture = svg(360, 92, "what runs when");
      rows.forEach((row, engine) => picture.text(36, 21 + 24 * engine, row, "end", "small"));
      for (let piece = 0; piece < at.pieces; piece += 1) {
        const stream = piece % at.streams;
        rows.forEach((row, engine) => {
          const [start, end] = [0, 1].map((side) => part(6 * piece + 2 * engine + side));
          busy[engine] += end - start;
          const [x, width] = [40 + 316 * start, Math.max(316 * (end - start) - 0.5, 0.5)];
          picture.box(x, 8 + 24 * engine, width, 18, colour(11 * stream), "", `piece ${piece + 1} on stream ${stream + 1}: ${row}`);
          if (width > 12) picture.text(x + width / 2, 20 + 24 * engine, piece + 1, "middle", "within");
        });
      }
      picture.text(40, 90, "0", "start", "small");
      picture.text(356, 90, `${lengths[state]} µs`, "end", "small");
      const most = busy.indexOf(Math.max(...busy));
      const share = Math.round((100 * lengths[state]) / alone);
      return [picture.done(), `${of(at.pieces, "piece")} on ${of(at.streams, "stream")}: ${lengths[state]} µs by the model of an ${data.device}, ${share} % of the time in one piece. ${rows[most]} works ${Math.round(100 * busy[most])} % of it.`];
    },

    occupancy(data, at) {
      const place = ((at.threads / 64 - 1) * 16 + at.registers / 16 - 1) * 15 + at.shared / 16;
      const blocks = count(data.blocks, place);
      const [most, each] = [Number(data.warps), at.threads / 32];
      const picture = svg(360, 62, "warps of a multiprocessor");
      for (let warp = 0; warp < most; warp += 1) {
        const block = Math.floor(warp / each);
        const fill = block < blocks ? colour((block * 11) % 32) : "";
        picture.box(4 + 11 * (warp % 32), 4 + 26 * Math.floor(warp / 32), 10, 22, fill, fill ? "" : "faint");
      }
      const share = Math.round((100 * blocks * each) / most);
      const fits = blocks === 0 ? "Not even one block fits" : `${of(blocks, "block")}, ${of(blocks * each, "warp")} of ${most}`;
      return [picture.done(), `${fits}: occupancy ${share} % on an ${data.device}.`];
    },

    roofline(data, at) {
      const points = data.points.split(",").map((one) => one.split(" "));
      const [bandwidth, rate] = [Number(data.bandwidth), Number(data.rate)];
      const [slope, level] = data.words.split("|");
      const x = (value) => 20 + 66 * (Math.log10(value) + 1.5);
      const y = (value) => 200 - 45 * (Math.log10(value) - 1.5);
      const picture = svg(360, 226, "the roofline");
      const ridge = rate / bandwidth;
      for (const tick of [0.1, 1, 10, 100, 1000]) {
        picture.line(`${x(tick)},30 ${x(tick)},200`, "var(--faint)");
        picture.text(x(tick), 210, tick, "middle", "small");
      }
      for (const tick of [100, 1000, 10000]) {
        picture.line(`20,${y(tick)} 350,${y(tick)}`, "var(--faint)");
        picture.text(20, y(tick) - 2, tick + " GFLOP/s", "start", "small");
      }
      picture.line(`${x(0.05)},${y(0.05 * bandwidth)} ${x(ridge)},${y(rate)} ${x(3000)},${y(rate)}`, "currentColor");
      picture.text(x(0.4), y(0.4 * bandwidth) + 16, slope);
      picture.text(350, y(rate) - 6, level, "end");
      picture.text(350, 223, "operations per byte", "end");
      points.forEach(([kernel, intensity, reached], index) => {
        const is = index === at.variant.index;
        picture.dot(x(intensity), y(reached), is ? 6 : 3, is ? "var(--series-1)" : "var(--series-0)", kernel);
        if (is) picture.text(x(intensity) + (x(intensity) > 220 ? -9 : 9), y(reached) + 12, kernel, x(intensity) > 220 ? "end" : "start");
      });
      const [name, intensity, reached] = points[at.variant.index];
      const bound = Math.min(rate, intensity * bandwidth);
      const what = intensity < ridge ? "memory" : "arithmetic";
      return [picture.done(), `${name}: ${Math.round((100 * reached) / bound)} % of what ${what} allows.`];
    },
  };

  for (const box of document.querySelectorAll(".widget")) {
    const draw = widgets[box.dataset.widget];
    if (!draw) continue;
    const [controls, said, drawing] = [".controls", ".said", ".drawing"].map((one) => box.querySelector(one));
    const inputs = [...controls.querySelectorAll("input, select")];
    const show = () => {
      const at = {};
      for (const input of inputs) {
        const option = input.selectedOptions && input.selectedOptions[0];
        at[input.name] = option ? { index: Number(option.value), text: option.textContent } : Number(input.value);
        const output = input.parentElement.querySelector("output");
        if (output) output.textContent = input.value;
      }
      const [picture, sentence] = draw(box.dataset, at, box);
      drawing.innerHTML = picture;
      said.textContent = sentence;
    };
    // The first slider by itself, from end to end, for who wants to watch.
    const slider = inputs.find((input) => input.type === "range");
    if (slider && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const play = Object.assign(document.createElement("button"), { type: "button", className: "play", textContent: "Play" });
      let timer = 0;
      const stop = () => {
        clearInterval(timer);
        timer = 0;
        play.textContent = "Play";
      };
      play.addEventListener("click", () => {
        if (timer) return stop();
        if (slider.value === slider.max) slider.value = slider.min;
        play.textContent = "Stop";
        timer = setInterval(() => {
          slider.stepUp();
          show();
          if (slider.value === slider.max) stop();
        }, 500);
      });
      slider.addEventListener("pointerdown", stop);
      controls.append(play);
    }
    controls.hidden = false;
    box.classList.add("live");
    for (const input of inputs) input.addEventListener("input", show);
    show();
  }
}
