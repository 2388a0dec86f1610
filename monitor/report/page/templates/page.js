// The chosen day: the bar at the top, and everything that shows one day.
let selected = page.chosen;
const HEIGHTS = { calibration_drift: 1, data_error: 1, undecided: 0.75, level_drift: 0.75, improved: 0.5, prior_shift: 0.5, reference_changed: 0.5, acknowledged: 0.35, ok: 0.2, insufficient_data: 0.2, not_comparable: 0.5 };

function drawBar() {
  const host = at("days"), width = Math.max(160, host.clientWidth), height = 36, step = width / page.days.length;
  host.replaceChildren();
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, host);
  const cursor = make("rect", { class: "cursor", y: 1, width: Math.max(step, 4), height: height - 2 }, svg);
  page.days.forEach((d, i) => {
    const tall = (height - 8) * (HEIGHTS[d.state] ?? 0), hollow = ["insufficient_data", "not_comparable"].includes(d.state) ? " hollow" : "";
    const wide = Math.max(1, step - 1.5);
    if (tall) make("rect", { class: `state s-${d.state}${hollow}`, x: i * step + (step - wide) / 2, y: height - 4 - tall, width: wide, height: tall }, svg);
    if (d.state === "data_error") make("path", { class: "limit", d: `M${i * step + 1} 6L${(i + 1) * step - 1} ${height - 6}` }, svg);
  });
  cursors.push((i) => cursor.setAttribute("x", (i + 0.5) * step - Math.max(step, 4) / 2));
}

function select(i) {
  selected = Math.min(page.days.length - 1, Math.max(0, i));
  const day = page.days[selected], words = page.words[day.state];
  const bar = at("days"), label = at("day-label");
  bar.setAttribute("aria-valuenow", selected + 1);
  bar.setAttribute("aria-valuetext", `${day.day}: ${words.word}`);
  label.replaceChildren();
  tag("b", day.day, label);
  label.append(` ${words.word}`);
  // A document inside a notebook has no address of its own.
  if (location.protocol !== "about:") history.replaceState(null, "", selected === page.chosen ? location.pathname + location.search : `#${day.day}`);
  showVerdict(day, words);
  showSegments(day);
  cursors.forEach((move) => move(selected));
  drawBins();
}

function showVerdict(day, words) {
  at("verdict").className = `verdict s-${day.state}`;
  say(at("eyebrow"), `Verdict of ${day.day}`);
  const [sign, title] = at("title").querySelectorAll("span");
  sign.textContent = words.sign;
  title.textContent = words.title;
  const story = at("story"), figures = at("figures");
  story.replaceChildren();
  (day.reasons.length ? day.reasons : ["Nothing is stored of this day."]).forEach((reason, n) => tag("p", reason, story, n ? "" : "lead"));
  figures.replaceChildren();
  for (const [label, value, note] of day.figures) {
    const figure = tag("div", "", figures);
    tag("dt", label, figure);
    tag("dd", value, figure);
    tag("dd", note, figure, "note");
  }
}

function showSegments(day) {
  const table = at("segment-table");
  if (!table) return;
  say(at("segments-day"), day.day);
  const body = table.tBodies[0];
  body.replaceChildren();
  for (const cells of day.segments) {
    const shown = addRow(table, cells).cells[1];
    const [state, words] = Object.entries(page.words).find(([, w]) => w.word === cells[1]);
    const badge = document.createElement("span");
    badge.className = `badge s-${state}`;
    tag("i", words.sign, badge).setAttribute("aria-hidden", "true");
    badge.append(cells[1]);
    shown.className = "words";
    shown.replaceChildren(badge);
  }
  const head = table.querySelector("th[aria-sort]");
  if (head) sortBy(table, head.cellIndex, head.getAttribute("aria-sort") === "descending");
}

function draw() {
  drawTimelines();
  drawBar();
  drawBins();
  cursors.forEach((move) => move(selected));
}

function listen() {
  const bar = at("days"), by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -7, PageUp: 7, Home: -Infinity, End: Infinity };
  bar.addEventListener("keydown", (event) => {
    if (!(event.key in by)) return;
    event.preventDefault();
    select(Math.max(-1e6, Math.min(1e6, selected + by[event.key])));
  });
  bar.addEventListener("click", (event) => {
    const box = bar.getBoundingClientRect();
    select(Math.floor(((event.clientX - box.left) / box.width) * page.days.length));
  });
  at("earlier").addEventListener("click", () => select(selected - 1));
  at("later").addEventListener("click", () => select(selected + 1));
  at("newest").addEventListener("click", () => select(page.chosen));
  document.querySelectorAll("input[type=radio]").forEach((input) => input.addEventListener("change", drawBins));
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
  for (const [event, begins] of [["beforeprint", true], ["afterprint", false]]) addEventListener(event, () => { printing = begins; draw(); });
  addEventListener("hashchange", fromAddress);
}

function fromAddress() {
  const place = page.days.findIndex((d) => `#${d.day}` === location.hash);
  if (place >= 0 && place !== selected) select(place);
}

// Rare events crowd at one end of the probability axis, so they open on the log-odds axis.
const middle = page.days[selected].bins?.bins ?? [];
const typical = middle.length ? middle[Math.floor(middle.length / 2)][2] : 0.5;
document.querySelector(`input[name=axes][value=${typical < 0.05 || typical > 0.95 ? "logit" : "probability"}]`).checked = true;
draw();
listen();
fromAddress();
