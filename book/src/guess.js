// A place for a guess before each answer, what a guess unfolds, how far a reader is, and a search. Guesses are kept in the
// browser where it allows that, and else for as long as the page is open.
{
  const memory = new Map();
  const kept = (key, value) => {
    if (value !== undefined) memory.set(key, value);
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* A page of a file may have no storage. */ }
    return memory.get(key) ?? null;
  };
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const isMade = (id) => kept("guess " + id) !== null;
  const number = (text) => (text.trim() === "" ? NaN : Number(text.replace(",", ".")));
  const isRight = ({ answer, slack }, text) => Math.abs(number(text) - answer) <= slack * Math.abs(answer) + 1e-9;
  const boxes = [...document.querySelectorAll(".guess")];

  // What answers a bet is folded until all of its section are made, or somebody asks to see it.
  const folds = [...document.querySelectorAll(".after-bet")].map((answer) => {
    const asked = [...answer.parentElement.querySelectorAll(".guess")];
    const button = make("button", { type: "button", textContent: "Show me" });
    const line = make("p", { className: "show" });
    line.append(button);
    answer.before(line);
    let isOpen = false;
    const show = () => {
      const isShown = isOpen || kept("show all") === "yes" || asked.every((box) => isMade(box.dataset.id));
      answer.classList.toggle("folded", !isShown);
      line.hidden = isShown;
    };
    const open = () => {
      isOpen = true;
      show();
    };
    button.addEventListener("click", open);
    return { answer, open, show };
  });
  const linked = () => {
    const named = () => {
      try {
        return document.getElementById(decodeURIComponent(location.hash.slice(1)));
      } catch {
        return null; // An address that is no text names nothing.
      }
    };
    const target = named();
    if (!target) return;
    for (const fold of folds) if (fold.answer.contains(target)) fold.open();
    target.scrollIntoView();
  };
  if (folds.length > 0) {
    const all = make("input", { type: "checkbox", checked: kept("show all") === "yes" });
    const label = make("label", { className: "show-all" });
    label.append(all, " show answers without a bet");
    document.querySelector("main h1").after(label);
    all.addEventListener("change", () => {
      kept("show all", all.checked ? "yes" : "no");
      for (const fold of folds) fold.show();
    });
    addEventListener("hashchange", linked);
  }

  // The bets that are made, of each chapter.
  const progress = () => {
    for (const chapter of document.querySelectorAll("[data-bets]")) {
      const ids = chapter.dataset.bets.split(" ").filter(Boolean);
      if (ids.length === 0) continue;
      const made = ids.filter(isMade).length;
      chapter.querySelector(".made").textContent = `${made} of ${ids.length}`;
      chapter.classList.toggle("complete", made === ids.length);
    }
  };

  // A line to paste, by the first guess of each bet.
  const score = document.querySelector(".score");
  const tally = () => {
    if (!score) return;
    const firsts = boxes.map((box) => [box, kept("first " + box.dataset.id)]).filter(([, first]) => first !== null);
    const right = firsts.map(([box, first]) => isRight(box.dataset, first));
    const count = right.filter(Boolean).length;
    const heading = document.querySelector("main h1").textContent;
    const line = `${heading}: ${count} of ${boxes.length} ${right.map((one) => (one ? "🟩" : "🟥")).join("")}`;
    score.hidden = firsts.length === 0;
    score.replaceChildren(make("p", {
      textContent: firsts.length < boxes.length ? `${count} of ${firsts.length} right so far.` : `${count} of ${boxes.length} right.`,
    }));
    if (firsts.length < boxes.length) return;
    const shown = make("input", { type: "text", readOnly: true, value: line, size: 48 });
    shown.setAttribute("aria-label", "your score, to paste");
    const copy = make("button", { type: "button", textContent: "Copy" });
    copy.addEventListener("click", async () => {
      shown.select();
      try {
        await navigator.clipboard.writeText(line);
        copy.textContent = "Copied";
      } catch { /* It is selected. */ }
    });
    score.append(shown, " ", copy);
  };

  const changed = () => {
    for (const fold of folds) fold.show();
    progress();
    tally();
  };

  for (const box of boxes) {
    const { answer, id } = box.dataset;
    const isNumber = answer !== undefined;
    const details = box.querySelector("details.answer");
    if (details && !isNumber) continue;
    if (details) details.hidden = true;
    const form = make("form");
    const input = make("input", { type: "text", required: true, size: isNumber ? 8 : 32, autocomplete: "off" });
    input.setAttribute("aria-labelledby", "guess-" + id);
    if (isNumber) input.inputMode = "decimal";
    const button = make("button", { textContent: "Bet" });
    const said = make("p", { className: "said" });
    said.setAttribute("aria-live", "polite");
    const tell = (text) => {
      if (!isNumber) {
        said.textContent = "Compare it with what follows.";
        return;
      }
      const miss = [...box.querySelectorAll(".miss")].find((one) => Math.abs(one.dataset.value - number(text)) < 1e-9);
      said.textContent = isRight(box.dataset, text) ? "Right." : "Not that. " + (miss ? miss.textContent : "");
      details.hidden = false;
      details.open = true;
    };
    // A choice is a button.
    const choices = box.querySelectorAll("ol > li");
    choices.forEach((choice, place) => {
      const pick = make("button", { type: "button", textContent: choice.textContent });
      choice.replaceChildren(pick);
      pick.addEventListener("click", () => {
        input.value = String(place + 1);
        form.requestSubmit();
      });
    });
    form.hidden = choices.length > 0;
    form.append(input, button);
    if (details) details.before(form, said);
    else box.append(form, said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (isNumber && !Number.isFinite(number(input.value))) {
        said.textContent = "Answer with a number.";
        return;
      }
      if (kept("first " + id) === null) kept("first " + id, input.value);
      kept("guess " + id, input.value);
      tell(input.value);
      changed();
    });
    const before = kept("guess " + id);
    if (before !== null) {
      input.value = before;
      tell(before);
    }
  }
  changed();
  if (folds.length > 0) linked();

  // The list of chapters, open where there is room beside the page, and the search above it.
  const contents = document.querySelector("details.contents");
  if (contents) {
    contents.open = matchMedia("(min-width: 80rem)").matches;
    const [find, hits] = ["find", "hits"].map((id) => document.getElementById(id));
    const places = JSON.parse(document.getElementById("places").textContent);
    const texts = places.map((place) => (place[0] + " " + place[2]).toLowerCase());
    const SHOWN = 12;
    find.parentElement.hidden = false;
    find.addEventListener("input", () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = words.length === 0 ? [] : places.filter((_, index) => words.every((word) => texts[index].includes(word)));
      hits.hidden = words.length === 0;
      hits.replaceChildren(...found.slice(0, SHOWN).map(([title, target]) => {
        const line = make("li");
        line.append(make("a", { href: target, textContent: title }));
        return line;
      }));
      if (found.length === 0) hits.append(make("li", { textContent: "nothing found" }));
    });
  }
}
