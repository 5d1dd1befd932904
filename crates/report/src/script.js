// Sorts a table by a column: figures by their value, anything else by its text.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = "↕";
    button.setAttribute("aria-label", "sort by " + header.textContent.trim());
    header.append(" ", button);
    button.addEventListener("click", () => {
      const ascending = header.getAttribute("aria-sort") !== "ascending";
      for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
      };
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const difference = x - y;
        const sign = Number.isNaN(difference) ? x.localeCompare(y) : difference;
        return ascending ? sign : -sign;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(order));
    });
  });
}
// Shows the patterns whose name, variants or lesson hold every word that is typed.
const search = document.getElementById("search");
if (search) {
  search.parentElement.hidden = false;
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const card of document.querySelectorAll("[data-search]")) {
      const hit = words.every((word) => card.dataset.search.includes(word));
      card.hidden = !hit;
      found += hit;
    }
    for (const topic of document.querySelectorAll(".topic")) {
      topic.hidden = !topic.querySelector("[data-search]:not([hidden])");
    }
    document.getElementById("found").textContent = words.length ? found + " found" : "";
  });
}
// A link to something folded unfolds it.
const unfold = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
