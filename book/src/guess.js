// A place for a guess before each answer. Guesses are kept in the browser where it allows that.
{
  const kept = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* A page of a file may have no storage: then nothing is kept. */ }
    return null;
  };
  for (const box of document.querySelectorAll(".guess")) {
    const { answer, slack, id } = box.dataset;
    const details = box.querySelector("details.answer");
    if (answer === undefined) continue;
    details.hidden = true;
    const form = document.createElement("form");
    const input = document.createElement("input");
    input.setAttribute("aria-labelledby", "guess-" + id);
    Object.assign(input, { type: "text", inputMode: "decimal", required: true, size: 8, autocomplete: "off" });
    const button = Object.assign(document.createElement("button"), { textContent: "Bet" });
    const said = Object.assign(document.createElement("p"), { className: "said" });
    said.setAttribute("aria-live", "polite");
    const tell = (value) => {
      const right = Math.abs(value - answer) <= slack * Math.abs(answer) + 1e-9;
      const miss = [...box.querySelectorAll(".miss")].find((one) => Math.abs(one.dataset.value - value) < 1e-9);
      said.textContent = right ? "Right." : "Not that. " + (miss ? miss.textContent : "");
      details.hidden = false;
      details.open = true;
    };
    form.append(input, button);
    details.before(form, said);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = Number(input.value.replace(",", "."));
      if (input.value.trim() === "" || !Number.isFinite(value)) {
        said.textContent = "Answer with a number.";
        return;
      }
      kept("guess " + id, input.value);
      tell(value);
    });
    const before = kept("guess " + id);
    if (before !== null) {
      input.value = before;
      tell(Number(before.replace(",", ".")));
    }
  }
}
