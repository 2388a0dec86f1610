// Small helpers for SVG and for texts. Text from logs is only ever set as text content.
const make = (name, attributes, parent) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
};
const write = (text, attributes, parent) => { make("text", attributes, parent).textContent = text; };
// A date stays on one line; a text that holds more stays one element (dates.py says why).
const dated = (text) => {
  const parts = text.split(/\b(\d{4}-\d\d-\d\d)\b/).map((part, place) => {
    if (place % 2 === 0) return part;
    const node = document.createElement("time");
    node.textContent = part;
    return node;
  }).filter((part) => part !== "");
  if (parts.length < 2) return parts;
  const whole = document.createElement("span");
  whole.append(...parts);
  return [whole];
};
const say = (node, text) => node.replaceChildren(...dated(text));
const tag = (name, text, parent, kind) => {
  const node = document.createElement(name);
  say(node, text);
  if (kind) node.className = kind;
  if (parent) parent.append(node);
  return node;
};
// A row of a table; every cell repeats its heading, for pages too narrow for lines.
const addRow = (table, cells) => {
  const heads = table.tHead.rows[0].cells, row = tag("tr", "", table.tBodies[0]);
  cells.forEach((cell, place) => {
    const named = place === 0 && table.classList.contains("sortable");
    const node = tag(named ? "th" : "td", cell, row, cell.length > page.longest ? "long" : "");
    if (named) node.scope = "row"; else node.dataset.label = heads[place].textContent;
  });
  return row;
};
// Charts are drawn as wide as they are shown, so that their texts keep their size. The browser says
// that it prints before it lays out the sheet, so its widths stand here, in pixels: those of style.css
// over 0.85, for texts of 7 points.
const PAPER = [[".plots.two", 391], [".diagram", 498], [".plots", 818]];
let printing = false;
const widthOf = (host) => (printing ? PAPER.find(([place]) => host.closest(place))[1] : host.clientWidth);
const at = (id) => document.getElementById(id);
const known = (value) => value !== null && value !== undefined;
const minus = (text) => text.replaceAll("-", "\u2212");
const percent = (ratio) => (ratio >= 0.01 || ratio === 0 ? `${(100 * ratio).toFixed(1)} %` : `${Number((100 * ratio).toPrecision(2))} %`);
const whole = (count) => count.toLocaleString("en-US");
const odds = (log10) => `${log10 >= 6 ? `10^${log10.toFixed(0)}` : whole(Number((10 ** log10).toPrecision(2)))}\u00a0to\u00a01`;
const logit = (p) => Math.log(p / (1 - p));
const sigmoid = (z) => 1 / (1 + Math.exp(-z));

// Round steps between two numbers, about as many as asked for.
const steps = (low, high, about) => {
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) found.push(Number((n * step).toPrecision(12)));
  return found;
};
