// Checks the page it is in, with everything unfolded, by axe-core, and tells the frame around it: a line per fault, then
// "measured".
addEventListener("load", async () => {
  const name = location.pathname.split("/").pop();
  const tell = (text) => parent.postMessage(name + ": " + text.replaceAll("\n", " "), "*");
  for (const details of document.querySelectorAll("details")) details.open = true;
  const found = await axe.run(document, { resultTypes: ["violations"] });
  for (const violation of found.violations) {
    const places = violation.nodes.slice(0, 3).map((node) => node.target.join(" "));
    tell(violation.id + " (" + violation.nodes.length + "): " + violation.help + ": " + places.join("; "));
  }
  tell("measured");
});
