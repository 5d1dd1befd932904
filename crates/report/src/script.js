// Sorts a table by a column: figures by their value, anything else by its text.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "sort by this column";
    button.append(...header.childNodes);
    header.append(button);
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
