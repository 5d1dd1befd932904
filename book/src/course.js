// The course in a page: tasks, bets, an editor, verdicts of the module, and progress that the browser keeps.
{
  const find = (name) => document.getElementById(name);
  const put = (parent, tag, words) => {
    const element = document.createElement(tag);
    if (words !== undefined) element.textContent = words;
    parent.append(element);
    return element;
  };
  // A browser may keep nothing for pages of files: then progress lasts as long as the page.
  const kept = new Map();
  const keep = {
    get(name) {
      try { return localStorage.getItem("course." + name) ?? kept.get(name) ?? null; } catch { return kept.get(name) ?? null; }
    },
    set(name, value) {
      kept.set(name, value);
      try { localStorage.setItem("course." + name, value); } catch { /* it is kept above */ }
    },
    remove(name) {
      kept.delete(name);
      try { localStorage.removeItem("course." + name); } catch { /* it is removed above */ }
    },
  };
  // Inputs and one of the counted sizes are new in each check, as in `learn`.
  const seed = () => (window.seed ? window.seed() : 1 + Math.floor(Math.random() * 2 ** 31));
  let tasks = [];
  let task = null;
  // Each language has files and progress of its own; those of Rust have the names that they had before there were two.
  const language = () => find("language").value;
  const own = (name, id) => `${name}.${language() === "cuda" ? "cuda." : ""}${id}`;
  const given = () => (language() === "cuda" && task.given_cuda) || task.given;
  // Text with `code`, and paragraphs or items on lines of their own.
  const prose = (parent, text) => {
    for (const paragraph of text.trim().split("\n\n")) {
      const heading = paragraph.match(/^# (.*)$/);
      const items = /^\d+\. |^- /.test(paragraph);
      const lines = items ? paragraph.split(/\n(?=\d+\. |- )/) : [paragraph.replaceAll("\n", " ")];
      for (const line of lines) {
        const element = put(parent, heading ? "h2" : "p");
        (heading ? heading[1] : line.replaceAll("\n", " ")).split("`").forEach((piece, index) => {
          if (index % 2 === 1) put(element, "code", piece);
          else element.append(piece);
        });
      }
    }
  };
  const count = () => {
    const done = tasks.filter((one) => keep.get(own("done", one.id))).length;
    find("done").textContent = `${done} of ${tasks.length} done`;
    for (const option of find("task").options) {
      const mark = keep.get(own("done", option.value)) ? " (done)" : "";
      option.textContent = option.dataset.name + mark;
    }
  };
  const bets = (parent, questions, when) => {
    parent.replaceChildren();
    questions.forEach((question, index) => {
      const bet = put(parent, "div");
      bet.className = "bet";
      prose(bet, question.text);
      const label = put(bet, "label", "your answer ");
      const input = put(label, question.choices ? "select" : "input");
      (question.choices ?? []).forEach((choice, place) => {
        put(input, "option", `${place + 1}  ${choice}`).value = String(place + 1);
      });
      const button = put(bet, "button", "bet");
      button.type = "button";
      const said = put(bet, "p");
      said.setAttribute("aria-live", "polite");
      const answer = async () => {
        // Before the first run it is about the file as it is given.
        const file = when === "before" ? given() : find("source").value;
        const asked = ["bet", task.id, when + " " + index, input.value || "?", language(), "text", file];
        const reply = JSON.parse(await ask(asked.join("\n")));
        if (reply.error) said.textContent = reply.error;
        else said.textContent = (reply.right ? "Right. " : "No. ") + reply.text;
      };
      button.addEventListener("click", answer);
      input.addEventListener("keydown", (event) => { if (event.key === "Enter") answer(); });
    });
  };
  const show = (id) => {
    task = tasks.find((one) => one.id === id) ?? tasks[0];
    keep.set("task", task.id);
    find("task").value = task.id;
    find("doc").replaceChildren();
    prose(find("doc"), task.doc);
    const isHost = task.kind === "host";
    find("source").value = keep.get(own("file", task.id)) ?? given();
    find("source").readOnly = isHost;
    for (const name of ["check", "reset"]) find(name).disabled = isHost;
    find("hints").replaceChildren();
    find("after").replaceChildren();
    find("verdict").textContent = isHost
      ? `This task's file is a program of the host. It needs rustc and Linux: cargo xtask learn ${task.id}`
      : "";
    find("hint").disabled = false;
    bets(find("bets"), isHost ? [] : task.before, "before");
  };
  const select = (line) => {
    const source = find("source");
    const lines = source.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    source.focus();
    source.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  };
  const check = async () => {
    const [id, said, source, done] = [task.id, find("verdict"), find("source").value, own("done", task.id)];
    said.textContent = "running";
    [find("check").disabled, find("stop").disabled] = [true, false];
    const answer = JSON.parse(await ask(["check", id, seed(), language(), "text", source].join("\n")));
    if (own("done", task.id) !== done) return;
    [find("check").disabled, find("stop").disabled] = [false, true];
    said.textContent = answer.error ?? answer.text;
    if (answer.line) select(answer.line);
    if (answer.passed) {
      keep.set(done, "1");
      bets(find("after"), task.after, "after");
    }
    count();
  };
  const step = (by) => {
    const place = tasks.indexOf(task) + by;
    if (place >= 0 && place < tasks.length) show(tasks[place].id);
  };
  find("task").addEventListener("change", () => show(find("task").value));
  find("language").addEventListener("change", () => {
    keep.set("language", language());
    show(task.id);
    count();
  });
  find("previous").addEventListener("click", () => step(-1));
  find("next").addEventListener("click", () => step(1));
  find("check").addEventListener("click", check);
  find("stop").addEventListener("click", stop);
  find("hint").addEventListener("click", () => {
    const shown = find("hints").childElementCount;
    if (shown < task.hints.length) prose(put(find("hints"), "li"), task.hints[shown]);
    find("hint").disabled = shown + 1 >= task.hints.length;
  });
  find("reset").addEventListener("click", () => {
    keep.remove(own("file", task.id));
    show(task.id);
  });
  const source = find("source");
  source.addEventListener("input", () => keep.set(own("file", task.id), source.value));
  let leaves = false;
  source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.ctrlKey) check();
    if (event.key === "Tab" && !event.shiftKey && !leaves) {
      event.preventDefault();
      source.setRangeText("    ", source.selectionStart, source.selectionEnd, "end");
      keep.set(own("file", task.id), source.value);
    }
    leaves = event.key === "Escape";
  });
  const begin = async () => {
    tasks = JSON.parse(await ask("tasks")).tasks;
    const twins = JSON.parse(find("twins").textContent);
    for (const one of tasks) one.given_cuda = twins[one.id];
    let group = null;
    for (const one of tasks) {
      if (group?.label !== one.lesson) {
        group = put(find("task"), "optgroup");
        group.label = one.lesson;
      }
      const option = put(group, "option", one.title);
      [option.value, option.dataset.name] = [one.id, `${one.id}: ${one.title}`];
    }
    find("language").value = keep.get("language") ?? "rust";
    show(keep.get("task") ?? tasks[0].id);
    count();
    for (const element of document.querySelectorAll("[hidden].needs-script")) element.hidden = false;
  };
  window.courseIsReady = begin();
}
