// Measures the page it is in, with everything unfolded, and tells the frame around it: a line per fault, then
// "measured".
addEventListener("load", () => {
  const name = location.pathname.split("/").pop();
  const tell = (text) => parent.postMessage(name + ": " + text.replaceAll("\n", " "), "*");
  const shown = (element) => element.tagName.toLowerCase() + " “" + element.textContent.trim().slice(0, 40) + "”";
  for (const details of document.querySelectorAll("details")) details.open = true;

  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) tell("the page is wider than the window");
  for (const element of document.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    const scrolls = element.parentElement.closest(".scroll, pre, header nav");
    if (box.width === 0 || scrolls || element.closest("svg *")) continue;
    if (box.right > width + 1 || box.left < -1) tell(shown(element) + " is wider than the window");
  }
  for (const plot of document.querySelectorAll("svg")) {
    const frame = plot.getBoundingClientRect();
    // What is only shown without a script, and printed.
    if (frame.width === 0) continue;
    const texts = [...plot.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, box], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        tell(plot.id + ": " + shown(text) + " is cut off");
      }
      for (const [other, its] of texts.slice(index + 1)) {
        const [x, y] = [Math.min(box.right, its.right) - Math.max(box.left, its.left),
          Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top)];
        // Boxes of text are higher than their letters.
        if (x > 1 && y > box.height * 0.4) tell(plot.id + ": " + shown(text) + " covers " + shown(other));
      }
      const points = parseFloat(getComputedStyle(text).fontSize) * frame.width / plot.viewBox.baseVal.width;
      if (points < 8) tell(plot.id + ": " + shown(text) + " is " + points.toFixed(1) + " pixels high");
    });
  }
  if (performance.getEntriesByType("resource").length > 0) tell("something was asked for");
  tell("measured");
});
