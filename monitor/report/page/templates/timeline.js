// Charts over the days of the page. Every chart shares its x axis with the bar at the top.
const LEFT = 58, RIGHT = 12, TOP = 10, BOTTOM = 24;
const cursors = [];

function timeline(id, { height, label, low, high, ticks, name, draw, readout, missing = "" }) {
  const host = at(id), note = host.parentElement.querySelector(".readout"), days = page.days;
  note.hidden = Boolean(missing);
  if (missing) {
    host.replaceChildren();
    tag("p", missing, host, "none");
    return;
  }
  const width = Math.max(300, widthOf(host)), step = (width - LEFT - RIGHT) / days.length;
  host.replaceChildren();
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, host);
  const x = (i) => LEFT + (i + 0.5) * step;
  const y = (v) => TOP + (height - TOP - BOTTOM) * (1 - (Math.min(high, Math.max(low, v)) - low) / (high - low));
  shadeIncidents(svg, step, height);
  for (const value of ticks) {
    make("line", { class: value === 0 && low < 0 ? "zero" : "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }, svg);
    write(name(value), { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, svg);
  }
  dayTicks(svg, x, width, height);
  draw({ svg, x, y, step, right: width - RIGHT });
  const cursor = make("rect", { class: "cursor", y: TOP - 4, width: Math.max(step, 3), height: height - TOP - BOTTOM + 8 }, svg);
  cursors.push((i) => cursor.setAttribute("x", x(i) - Math.max(step, 3) / 2));
  const hover = make("rect", { class: "hover", y: TOP, width: step, height: height - TOP - BOTTOM, visibility: "hidden" }, svg);
  const hit = make("rect", { class: "hit", x: LEFT, y: 0, width: width - LEFT - RIGHT, height }, svg);
  const dayAt = (event) => {
    const box = svg.getBoundingClientRect();
    const inside = ((event.clientX - box.left) / box.width) * width - LEFT;
    return Math.min(days.length - 1, Math.max(0, Math.floor(inside / step)));
  };
  const tell = (i) => say(note, `${days[i].day}: ${readout(days[i])}`);
  hit.addEventListener("pointermove", (event) => {
    const i = dayAt(event);
    hover.setAttribute("x", x(i) - step / 2);
    hover.setAttribute("visibility", "visible");
    tell(i);
  });
  hit.addEventListener("pointerleave", () => { hover.setAttribute("visibility", "hidden"); tell(selected); });
  hit.addEventListener("click", (event) => select(dayAt(event)));
  cursors.push(tell);
}

function shadeIncidents(svg, step, height) {
  let start = null;
  page.days.concat([{ state: "" }]).forEach((day, i) => {
    const open = ["calibration_drift", "undecided", "improved"].includes(day.state);
    if (open && start === null) start = i;
    if (!open && start !== null) {
      make("rect", { class: "shade", x: LEFT + start * step, y: TOP, width: (i - start) * step, height: height - TOP - BOTTOM }, svg);
      start = null;
    }
  });
}

const LABEL = 60; // pixels for the label of a day, so that two never touch

function dayTicks(svg, x, width, height) {
  const mondays = page.days.map((d, i) => [d.day, i]).filter(([day]) => new Date(`${day}T00:00Z`).getUTCDay() === 1);
  const every = Math.max(1, Math.ceil((mondays.length * LABEL) / (width - LEFT)));
  mondays.forEach(([day, i], n) => {
    make("line", { class: "zero", x1: x(i), x2: x(i), y1: height - BOTTOM, y2: height - BOTTOM + 4 }, svg);
    if (n % every === 0 && x(i) < width - 30) write(day.slice(5), { x: x(i), y: height - 6, "text-anchor": "middle" }, svg);
  });
}

// Lines and bands stop where a day has no value.
const runs = (values) => {
  const found = [];
  values.forEach((value, i) => {
    if (!known(value)) return;
    if (i && known(values[i - 1])) found.at(-1).push(i); else found.push([i]);
  });
  return found;
};
const line = ({ svg, x, y, step }, values, kind) => runs(values).forEach((run) => {
  const points = run.length > 1 ? run.map((i) => `${x(i)},${y(values[i])}`) : [`${x(run[0]) - step / 2},${y(values[run[0]])}`, `${x(run[0]) + step / 2},${y(values[run[0]])}`];
  make("polyline", { class: `line ${kind}`, points: points.join(" ") }, svg);
});
const band = (plot, intervals, kind) => {
  const { svg, x, y } = plot;
  runs(intervals).forEach((run) => {
    const upper = run.map((i) => `${x(i)},${y(intervals[i][2])}`), lower = run.map((i) => `${x(i)},${y(intervals[i][1])}`).reverse();
    make("polygon", { class: `band ${kind}`, points: [...upper, ...lower].join(" ") }, svg);
  });
  line(plot, intervals.map((v) => (known(v) ? v[0] : null)), kind);
};
const bar = ({ svg, x, y, step }, i, from, to, kind) => {
  const top = Math.min(y(from), y(to)), tall = Math.abs(y(from) - y(to));
  if (tall > 0.2) make("rect", { class: `bar ${kind}`, x: x(i) - step * 0.38, y: top, width: step * 0.76, height: tall }, svg);
};
const bounds = (values, low, high) => {
  const all = values.filter(known).flat().filter(Number.isFinite);
  const least = Math.min(low, ...all), most = Math.max(high, ...all), room = (most - least) * 0.06;
  return [least === low ? least : least - room, most === high ? most : most + room];
};
const of = (key) => page.days.map((day) => day[key]);
const text = (v, digits = 2) => minus(v.toFixed(digits));
const plus = (v) => (v > 0 ? "+" : "") + text(v);
const short = (v) => (v > 0 ? "+" : "") + minus(String(v));

const UNCOMPARED = "None of these days is compared with a reference.";

function drawPrevalence() {
  const [low, high] = bounds([...of("prevalence"), ...of("mean"), ...of("expected"), ...of("reference")], 0, 0.001);
  timeline("plot-prevalence", {
    height: 190, low, high, ticks: steps(low, high, 4), name: (v) => `${Number((100 * v).toPrecision(3))} %`,
    label: "Prevalence, mean score and prevalence of the reference by day",
    draw: (plot) => {
      line(plot, of("reference"), "k-other dotted");
      line(plot, of("mean"), "k-prior dashed");
      line(plot, of("prevalence"), "k-ink");
      page.days.forEach((d, i) => {
        if (!d.expected) return;
        make("line", { class: "line k-level", x1: plot.x(i), x2: plot.x(i), y1: plot.y(d.expected[1] ?? d.expected[0]), y2: plot.y(d.expected[2] ?? d.expected[0]) }, plot.svg);
        make("circle", { class: "dot k-level", cx: plot.x(i), cy: plot.y(d.expected[0]), r: 3 }, plot.svg);
      });
    },
    readout: (d) => (known(d.prevalence) ? `prevalence ${percent(d.prevalence)}, mean score ${percent(d.mean)}` : d.expected ? `expected prevalence ${percent(d.expected[0])}` : "not known") + (known(d.reference) ? `; reference ${percent(d.reference)}` : ""),
  });
}

function drawEstimates(id, key, { middle, least, label, height, name, show }) {
  const [low, high] = bounds(of(key), ...least);
  timeline(id, {
    height, low, high, ticks: steps(low, high, height > 170 ? 4 : 3), name, label,
    missing: of(key).some(known) ? "" : UNCOMPARED,
    draw: (plot) => {
      make("line", { class: "limit", x1: LEFT, x2: plot.right, y1: plot.y(middle), y2: plot.y(middle) }, plot.svg);
      band(plot, of(key), key === "shift" ? "k-prior" : "k-drift");
    },
    readout: (d) => (known(d[key]) ? `${show(d[key][0])}, 95 % ${show(d[key][1])} to ${show(d[key][2])}` : "not known"),
  });
}

function drawEvidence() {
  const limits = of("limit").filter(known), most = Math.max(3, ...limits) * 1.25;
  const high = Math.min(Math.max(most, ...of("evidence").filter(known)), most * 2);
  const ticks = steps(0, high, 4).filter(Number.isInteger);
  timeline("plot-evidence", {
    height: 170, low: 0, high, ticks, name: (v) => (v < 5 ? whole(10 ** v) : `10^${v}`),
    label: "Evidence of a drift by day, in odds to 1, and the limit at which an incident opens",
    missing: of("limit").some(known) ? "" : UNCOMPARED,
    draw: (plot) => {
      page.days.forEach((d, i) => { if (known(d.evidence)) bar(plot, i, 0, Math.max(0.02, d.evidence), d.evidence >= d.limit ? "k-drift" : "k-other"); });
      page.days.forEach((d, i) => { if (d.again) make("line", { class: "again", x1: plot.x(i) - plot.step / 2, x2: plot.x(i) - plot.step / 2, y1: TOP, y2: 170 - BOTTOM }, plot.svg); });
      runs(of("limit")).forEach((run) => make("polyline", { class: "limit", points: run.flatMap((i) => [`${plot.x(i) - plot.step / 2},${plot.y(page.days[i].limit)}`, `${plot.x(i) + plot.step / 2},${plot.y(page.days[i].limit)}`]).join(" ") }, plot.svg));
    },
    readout: (d) => (known(d.evidence) ? `${odds(d.evidence)}; the limit is ${odds(d.limit)}${d.again ? `; it ${d.again}` : ""}` : "not judged against a reference"),
  });
}

const CAUSES = [["prior shift", "k-prior"], ["slope", "k-drift"], ["shape", "k-level"], ["rest", "k-faint"]];
function drawCauses() {
  const sums = of("causes").map((c) => known(c) && [c.filter((v) => v > 0).reduce((a, b) => a + b, 0), c.filter((v) => v < 0).reduce((a, b) => a + b, 0)]);
  const [low, high] = bounds(sums.filter(Boolean), 0, 0.001);
  timeline("plot-causes", {
    height: 190, low, high, ticks: steps(low, high, 4), name: (v) => minus(String(v)),
    label: "Calibration error by day and cause: prior shift, slope, shape and rest, in nats of log loss",
    missing: of("causes").some(known) ? "" : "Not known on any of these days.",
    draw: (plot) => page.days.forEach((d, i) => {
      let above = 0, below = 0;
      (d.causes ?? []).forEach((v, n) => {
        if (!known(v)) return;
        if (v > 0) { bar(plot, i, above, above + v, CAUSES[n][1]); above += v; } else { bar(plot, i, below, below + v, CAUSES[n][1]); below += v; }
      });
    }),
    readout: (d) => (d.causes ? CAUSES.map(([cause], n) => `${d.names?.[n] ?? cause} ${known(d.causes[n]) ? text(d.causes[n], 4) : "not known"}`).join(", ") : "not known"),
  });
}

function drawCounts() {
  const [low, high] = bounds(of("predicted"), 0, 1);
  timeline("plot-counts", {
    height: 150, low, high, ticks: steps(low, high, 3), name: whole,
    label: "Predictions by day, with and without an outcome",
    draw: (plot) => page.days.forEach((d, i) => {
      if (!known(d.predicted)) return;
      bar(plot, i, 0, d.matched, "k-prior");
      bar(plot, i, d.matched, d.predicted, "k-faint");
    }),
    readout: (d) => (known(d.predicted) ? `${whole(d.predicted)} predictions, ${whole(d.matched)} with an outcome` + (d.predicted ? ` (${percent(d.matched / d.predicted)})` : "") : "nothing is stored"),
  });
}

function drawTimelines() {
  cursors.length = 0;
  drawPrevalence();
  drawEstimates("plot-shift", "shift", { middle: 0, least: [-0.25, 0.25], height: 190, name: short, show: plus, label: "Prior shift by day, in logit, with its 95 % interval" });
  drawEvidence();
  drawEstimates("plot-slope", "slope", { middle: 1, least: [0.8, 1.2], height: 170, name: (v) => text(v, 1), show: text, label: "Slope by day with its 95 % interval" });
  drawCauses();
  drawCounts();
  cursors.forEach((move) => move(selected));
}
