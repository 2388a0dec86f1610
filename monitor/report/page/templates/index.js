// The filter keeps the models with every word of it in one of their cells.
const box = document.getElementById("filter"), rows = [...document.getElementById("models").tBodies[0].rows];

function filter() {
  const asked = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const told = row.textContent.toLowerCase();
    row.hidden = !asked.every((word) => told.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  document.getElementById("shown").textContent = asked.length ? `${shown} of ${rows.length} models` : "";
  document.getElementById("nothing").hidden = shown > 0;
}
box.addEventListener("input", filter);
filter();
