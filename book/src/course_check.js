// Does tasks in the page as a learner does, in each language: given, then solved; and tells whether the verdicts are those of the program.
{
  const find = (name) => document.getElementById(name);
  const steps = JSON.parse(find("steps").textContent);
  find("steps").remove();
  const settled = async () => {
    for (let turn = 0; turn < 1000; turn += 1) {
      await new Promise((tell) => setTimeout(tell, 1));
      if (!find("check").disabled && find("verdict").textContent !== "running") return find("verdict").textContent;
    }
    return "no verdict";
  };
  const told = [];
  const run = async () => {
    await window.courseIsReady;
    find("module").remove();
    let right = 0;
    for (const one of steps) {
      find("language").value = one.language;
      find("language").dispatchEvent(new Event("change"));
      find("task").value = one.id;
      find("task").dispatchEvent(new Event("change"));
      find("reset").click();
      for (const [name, source, expected] of [["given", null, one.given], ["solved", one.solution, one.solved]]) {
        if (source !== null) {
          find("source").value = source;
          find("source").dispatchEvent(new Event("input"));
        }
        find("check").click();
        const found = await settled();
        const passes = name === "solved";
        if (found === expected.text && expected.passed === passes && found.includes("NOT YET") !== passes) right += 1;
        else told.push(`${one.id} ${one.language} ${name} differs: expected ${expected.text} found ${found}`);
      }
    }
    // Progress is kept for each language.
    const done = [];
    for (const language of ["rust", "cuda"]) {
      find("language").value = language;
      find("language").dispatchEvent(new Event("change"));
      done.push(`${find("done").textContent} in ${language}`);
    }
    told.unshift(`${right} of ${2 * steps.length} verdicts in the page are those of learn, and ${done.join(", ")}`);
    find("told").textContent = told.join("\n");
  };
  run().catch((error) => { find("told").textContent = "stopped: " + error; });
}
