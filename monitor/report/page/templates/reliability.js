// The test-based reliability diagram of the week that ends on the chosen day.
const ROUND = [0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999];
const LEAST = 1e-6;
const choice = (name) => document.querySelector(`input[name=${name}]:checked`)?.value;

// A bin as it is read: scores as logged, or without the prior shift.
function binsOf(drawn, adjusted) {
  return drawn.bins.map((bin) => {
    const [low, high, mean] = adjusted ? bin.slice(3, 6) : bin, [count, positives, least, most] = bin.slice(6);
    return { low, high, mean, count, positives, rate: positives / count, least, most, rejected: adjusted ? bin[11] : bin[10] };
  });
}
const told = (b) => `Scores ${percent(b.low)} to ${percent(b.high)}, mean ${percent(b.mean)}: ${whole(b.count)} predictions, ${whole(b.positives)} came true (${percent(b.rate)}). These outcomes accept ${percent(b.least)} to ${percent(b.most)}; ${b.rejected ? whole(b.rejected) : "no"} predictions rejected.`;

function drawBins() {
  const host = at("plot-bins"), note = at("bin-readout"), day = page.days[selected], drawn = day.bins;
  host.replaceChildren();
  at("bin-table").tBodies[0].replaceChildren();
  host.closest(".diagram").classList.toggle("empty", !drawn);
  if (!drawn) {
    const early = day.day < page.detailed;
    tag("p", early ? `This page draws bins and all segments of the days from ${page.detailed} on. In a notebook, monitor.open_store reads the numbers of all days.` : "No prediction of this week has an outcome.", host, "none");
    note.textContent = "";
    return;
  }
  const adjusted = choice("scores") === "prior" && known(drawn.delta), bins = binsOf(drawn, adjusted), asLogit = choice("axes") === "logit";
  const width = Math.max(300, widthOf(host)), side = width - 64, below = 96, left = 52, top = 12;
  const svg = make("svg", { viewBox: `0 0 ${width} ${top + side + below + 42}`, role: "group", "aria-label": `Reliability diagram of ${drawn.first} to ${drawn.last}: ${bins.length} bins` }, host);
  const to = asLogit ? (p) => logit(Math.min(1 - LEAST, Math.max(LEAST, p))) : (p) => p;
  const [low, high] = axis(bins, asLogit, to);
  const scale = (p) => (Math.min(high, Math.max(low, to(p))) - low) / (high - low);
  const x = (p) => left + side * scale(p), y = (p) => top + side * (1 - scale(p));
  const ticks = asLogit ? thinned(ROUND.filter((p) => to(p) >= low && to(p) <= high), x) : steps(0, high, 5);
  for (const p of ticks) {
    make("line", { class: "grid", x1: x(p), x2: x(p), y1: top, y2: top + side }, svg);
    make("line", { class: "grid", x1: left, x2: left + side, y1: y(p), y2: y(p) }, svg);
    write(`${Number((100 * p).toPrecision(4))} %`, { x: left - 8, y: y(p) + 4, "text-anchor": "end" }, svg);
    write(`${Number((100 * p).toPrecision(4))} %`, { x: x(p), y: top + side + 18, "text-anchor": "middle" }, svg);
  }
  write("came true", { x: left + 6, y: top + 14 }, svg);
  write(adjusted ? "score without the prior shift" : "score as logged", { x: left + side - 4, y: top + side - 8, "text-anchor": "end" }, svg);
  drawPlace(svg, day.place, adjusted ? drawn.delta : 0, x, [left, left + side, top, side]);
  const most = Math.max(...bins.map((b) => b.count)), base = top + side + 34 + below - 10;
  write(`predictions, up to ${whole(most)} in a bin`, { x: left, y: base + 16 }, svg);
  make("line", { class: "zero", x1: left, x2: left + side, y1: base, y2: base }, svg);
  const groups = bins.map((b) => drawBin(svg, b, { x, y, top, base, most, below: below - 22 }, note));
  make("line", { class: "diagonal", x1: left, y1: top + side, x2: left + side, y2: top, "pointer-events": "none" }, svg);
  bins.forEach((b, i) => drawRate(groups[i], b, x, y));
  at("reference-key").hidden = !drawReference(svg, drawn, adjusted, x, y, (p) => to(p) > low && to(p) < high);
  at("place-key").hidden = !day.place;
  svg.dataset.summary = summary(drawn, bins) + (day.place ? ` ${day.place[2]}` : "");
  say(note, svg.dataset.summary);
  svg.addEventListener("pointerleave", () => { say(note, svg.dataset.summary); });
  binTable(bins);
}

const summary = (drawn, bins) => {
  const rejected = bins.reduce((n, b) => n + b.rejected, 0);
  return `${drawn.first === drawn.last ? "" : `${drawn.first} to `}${drawn.last}: ${whole(drawn.total)} predictions with an outcome, in ${bins.length} bin${bins.length === 1 ? "" : "s"}. ${percent(rejected / drawn.total)} are rejected.`;
};

function axis(bins, asLogit, to) {
  if (!asLogit) return [0, Math.min(1, Math.max(...bins.map((b) => Math.max(b.high, b.most))) * 1.04)];
  const values = bins.flatMap((b) => [b.low, b.high, b.mean, b.least || b.mean, b.most < 1 ? b.most : b.mean]).map(to);
  return [Math.min(...values) - 0.15, Math.max(...values) + 0.15];
}

// The scores at which a drift sits, behind the bins; one value is as wide as can be seen.
function drawPlace(svg, place, delta, x, [left, right, top, side]) {
  if (!place) return;
  const moved = (p) => sigmoid(logit(Math.min(1 - LEAST, Math.max(LEAST, p))) + delta);
  const [from, to] = place.map((p, i) => (i < 2 ? x(moved(p)) : p)), wide = Math.max(8, to - from);
  const start = Math.min(right - wide, Math.max(left, (from + to - wide) / 2));
  make("rect", { class: "place", x: start, width: wide, y: top, height: side, "pointer-events": "none" }, svg);
}

const thinned = (ticks, x) => ticks.reduce((kept, p) => (kept.length && x(p) - x(kept.at(-1)) < 42 ? kept : [...kept, p]), []);

function drawBin(svg, b, { x, y, top, base, most, below }, note) {
  const off = b.rejected * 2 > b.count, words = told(b);
  const group = make("g", { class: off ? "bin off" : "bin", tabindex: 0, role: "img", "aria-label": words }, svg);
  const from = x(b.low), wide = Math.max(3, x(b.high) - from), tall = (n) => (below * n) / most;
  make("rect", { class: "column", x: from, width: wide, y: top, height: base - top }, group);
  make("rect", { class: `range ${off ? "k-rejected" : "k-accepted"}`, x: from, width: wide, y: y(b.most), height: Math.max(2, y(b.least) - y(b.most)) }, group);
  make("rect", { class: "bar k-accepted", x: from + 0.5, width: Math.max(1.5, wide - 1), y: base - tall(b.count), height: tall(b.count) }, group);
  make("rect", { class: "bar k-rejected", x: from + 0.5, width: Math.max(1.5, wide - 1), y: base - tall(b.rejected), height: tall(b.rejected) }, group);
  const tell = () => {
    svg.querySelectorAll(".bin.on").forEach((other) => other.classList.remove("on"));
    group.classList.add("on");
    note.textContent = words;
  };
  group.addEventListener("pointerenter", tell);
  group.addEventListener("focus", tell);
  group.addEventListener("pointerleave", () => group.classList.remove("on"));
  group.addEventListener("blur", () => { group.classList.remove("on"); say(note, svg.dataset.summary); });
  return group;
}

function drawRate(group, b, x, y) {
  const from = x(b.low), wide = Math.max(3, x(b.high) - from);
  make("line", { class: "rate", x1: from, x2: from + wide, y1: y(b.rate), y2: y(b.rate) }, group);
  const off = group.classList.contains("off"), cx = x(b.mean), cy = y(b.rate);
  if (off) make("rect", { class: "point", x: cx - 3.5, y: cy - 3.5, width: 7, height: 7, transform: `rotate(45 ${cx} ${cy})` }, group);
  else make("circle", { class: "point", cx, cy, r: 3.8 }, group);
}

function drawReference(svg, drawn, adjusted, x, y, inside) {
  const curve = known(drawn.reference) ? page.curves[drawn.reference] : null;
  if (!curve || !curve.scores.length || !known(drawn.level)) return false;
  const points = curve.scores.map((s, i) => [sigmoid(s + (adjusted ? drawn.delta : 0)), sigmoid(curve.outcomes[i] + (adjusted ? drawn.level : 0))]);
  const shown = points.filter(([p, q]) => inside(p) && inside(q)).map(([p, q]) => `${x(p)},${y(q)}`);
  make("polyline", { class: "line dashed k-prior", points: shown.join(" "), "pointer-events": "none" }, svg);
  return shown.length > 1;
}

function binTable(bins) {
  for (const b of bins) {
    addRow(at("bin-table"), [percent(b.low), percent(b.high), percent(b.mean), whole(b.count), whole(b.positives), percent(b.rate), percent(b.least), percent(b.most), whole(b.rejected)]);
  }
}
