// Tables sort by a click on a heading: numbers by value, verdicts by severity, the rest as text.
const rank = (cell, ranks) => {
  const told = cell.textContent.trim();
  const word = told.replace(/^\W+\s*/, "");
  if (word in ranks) return ranks[word];
  if (told === "\u2013") return null;
  const power = told.match(/^10\^(\d+)/);
  if (power) return 10 ** Number(power[1]);
  const plain = told.replaceAll(",", "").replaceAll("\u2212", "-").replace(/^(below|above) /, "");
  return /^[+-]?\d/.test(plain) && !/^\d{4}-\d\d-\d\d/.test(plain) ? Number.parseFloat(plain) : told;
};

function compare(a, b) {
  if (a === null || b === null) return 0;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
}

// What is not known comes last, in either direction.
function sortBy(table, place, falling) {
  const ranks = page.ranks ?? {}, body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [rank(row.cells[place], ranks), row]);
  rows.sort(([a], [b]) => (a === null) - (b === null) || (falling ? compare(b, a) : compare(a, b)));
  body.append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortByClick(head, place));
  });
  const sortByClick = (head, place) => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    sortBy(table, place, falling);
  };
}
document.querySelectorAll("table.sortable").forEach(makeSortable);
