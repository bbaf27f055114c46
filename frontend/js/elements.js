// Two elements that draw SVG: <tilewright-memory> what `memoryMap` gives, <tilewright-schedule> what
// `schedule` gives. Set their property `value`. Text and axes have the colour of the text around.

const WIDTH = 720;
const LEFT = 84;
const RIGHT = WIDTH - 8;

const STYLE = `<style>
:host { display: block; --block: #c9d7de; --line: #0072b2; --limit: #b34e00; --copy: #e69f00; --wait: #8a939a;
  --driver: #a8527f; --compute: #0072b2; }
:host([hidden]) { display: none; }
@media (prefers-color-scheme: dark) {
  :host { --block: #3c5361; --line: #56b4e9; --limit: #ff9b4a; --driver: #e3a6c7; --compute: #56b4e9; }
}
figure { margin: 0; }
figcaption { font-size: 0.875em; }
svg { display: block; width: 100%; height: auto; }
text { font: 12px system-ui, sans-serif; fill: currentColor; font-variant-numeric: tabular-nums; }
.axis { stroke: currentColor; }
.block { fill: var(--block); stroke: currentColor; stroke-width: 0.5; }
.live { fill: none; stroke: var(--line); stroke-width: 2; }
.limit { stroke: var(--limit); stroke-dasharray: 6 4; stroke-width: 1.5; }
.compute { fill: var(--compute); }
.copy { fill: var(--copy); }
.stall { fill: var(--wait); fill-opacity: 0.5; }
.driver_overhead { fill: var(--driver); }
</style>`;

const WORDS = { compute: "computes", copy: "copies", stall: "waits", driver_overhead: "driver overhead" };

const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const bytes = (number) => `${grouped(number)} B`;
const time = (us) => (us < 1000 ? `${us.toPrecision(3)} µs` : `${(us / 1000).toPrecision(4)} ms`);

function rect(kind, [x, y, width, height], title) {
  const told = title ? `<title>${escaped(title)}</title>` : "";
  const at = [x, y, width, height].map((part) => Math.max(part, 0).toFixed(2));
  return `<rect class="${kind}" x="${at[0]}" y="${at[1]}" width="${at[2]}" height="${at[3]}">${told}</rect>`;
}

function text(words, x, y, anchor = "start") {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

function line(kind, x1, y1, x2, y2) {
  return `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

function figure(label, height, marks, caption) {
  return `${STYLE}<figure part="figure"><svg role="img" aria-label="${escaped(label)}"
    viewBox="0 0 ${WIDTH} ${height}">${marks}</svg><figcaption>${escaped(caption)}</figcaption></figure>`;
}

/** The drawing of a memory map: tensors over operators, and the bytes in use. */
function memory(map) {
  const [top, bottom, height] = [20, 280, 304];
  const most = Math.max(map.arena_bytes, map.peak_live_bytes, 1);
  const withLimit = map.sram_limit_bytes <= 2 * most;
  const scale = (bottom - top) / (withLimit ? Math.max(most, map.sram_limit_bytes) : most);
  const column = (RIGHT - LEFT) / Math.max(map.operators.length, 1);
  const x = (operator) => LEFT + operator * column;
  const y = (offset) => bottom - offset * scale;
  let marks = "";
  for (const tensor of map.tensors.filter((tensor) => tensor.space === "arena")) {
    const { first_operator: first, end_operator: end, offset_bytes: offset, extent_bytes: extent } = tensor;
    const shape = [x(first), y(offset + extent), (end - first) * column, extent * scale];
    marks += rect("block", shape, `${tensor.name}: ${bytes(tensor.bytes)} at ${grouped(offset)}`);
  }
  const live = map.operators.map(
    ({ live_bytes }, at) => `${x(at).toFixed(2)},${y(live_bytes).toFixed(2)} ${x(at + 1).toFixed(2)},${y(live_bytes).toFixed(2)}`,
  );
  marks += `<polyline class="live" points="${live.join(" ")}"/>`;
  marks += line("axis", LEFT, bottom, RIGHT, bottom) + line("axis", LEFT, top, LEFT, bottom);
  marks += text("0 B", LEFT - 6, bottom, "end") + text(bytes(most), LEFT - 6, y(most) + 4, "end");
  marks += text("operators in order", RIGHT, bottom + 16, "end");
  if (withLimit) {
    const limit = y(map.sram_limit_bytes);
    marks += line("limit", LEFT, limit, RIGHT, limit) + text("SRAM for tensors", RIGHT, limit - 5, "end");
  }
  const [peak, kinds] = [map.operators[map.peak_operator], map.kinds];
  const of = `${map.model} on ${map.board}, strategy ${map.strategy}`;
  const caption =
    `Blocks: tensors in SRAM, ${bytes(map.arena_bytes)} of ${bytes(map.sram_limit_bytes)} (${kinds.arena_bytes}). ` +
    `Line: bytes in use, at most ${bytes(map.peak_live_bytes)} (${kinds.peak_live_bytes})` +
    `${peak ? ` at ${peak.name}` : ""}.${map.fits ? "" : " This plan does not fit."}`;
  return figure(`Memory of ${of}`, height, marks, `Memory of ${of}. ${caption}`);
}

/** Slices of a lane as stretches of at least half a pixel, so that their number is bounded. */
function stretches(slices, x) {
  const found = [];
  for (const { kind, start, end } of slices) {
    const [from, to] = [x(start), x(end)];
    const last = found.at(-1);
    if (last && from - last.to < 0.5 && (last.kind === kind || to - last.to < 0.5)) {
      last.to = Math.max(last.to, to);
      last.end = Math.max(last.end, end);
    } else {
      found.push({ kind, from, to, start, end });
    }
  }
  return found;
}

/** The rows of a timeline from `top` on; its marks and where it ends. */
function lanes(timeline, word, end, top) {
  const x = (cycle) => LEFT + ((RIGHT - LEFT) * cycle) / end;
  const us = (cycles) => time((cycles * 1e6) / timeline.clock_hz);
  let marks = text(`${word} (${timeline.cycles_kind})`, LEFT, top + 12);
  timeline.lanes.forEach((lane, index) => {
    const y = top + 20 + index * 34;
    marks += text(lane, LEFT - 6, y + 18, "end");
    const own = timeline.slices.filter((slice) => slice.lane === index);
    for (const { kind, from, to, start, end: until } of stretches(own, x)) {
      const title = `${lane} ${WORDS[kind]}: ${us(start)} to ${us(until)}`;
      marks += rect(kind, [from, y, Math.max(to - from, 0.5), 26], title);
    }
  });
  return [marks, top + 24 + timeline.lanes.length * 34];
}

/** The drawing of a schedule: a row for each lane, of the prediction and of a run if there is one. */
function schedule({ report, predicted, run }) {
  const timelines = [["predicted", predicted], ...(run ? [["run", run]] : [])];
  const cycles = timelines.flatMap(([, { slices }]) => slices).reduce((most, { end }) => Math.max(most, end), 1);
  let [marks, top] = ["", 0];
  for (const [word, timeline] of timelines) {
    const [drawn, next] = lanes(timeline, word, cycles, top);
    [marks, top] = [marks + drawn, next];
  }
  const whole = time((cycles * 1e6) / predicted.clock_hz);
  marks += line("axis", LEFT, top, RIGHT, top) + text("0", LEFT, top + 16) + text(whole, RIGHT, top + 16, "end");
  Object.entries(WORDS).forEach(([kind, words], index) => {
    const x = LEFT + index * 130;
    marks += rect(kind, [x, top + 24, 12, 12]) + text(words, x + 18, top + 34);
  });
  const of = `${report.model} on ${report.board}, strategy ${report.strategy}`;
  const kind = report.kinds.latency_us ?? predicted.cycles_kind;
  const latency = report.latency_us === null ? "No time is predicted" : `Latency ${time(report.latency_us)} (${kind})`;
  return figure(`Schedule of ${of}`, top + 44, marks, `Schedule of ${of}. ${latency}.`);
}

class Drawing extends HTMLElement {
  #value = null;

  constructor() {
    super();
    this.attachShadow({ mode: "open" });
  }

  connectedCallback() {
    // A value that was set before the element was defined hides the property.
    if (Object.hasOwn(this, "value")) {
      const { value } = this;
      delete this.value;
      this.value = value;
    }
  }

  get value() {
    return this.#value;
  }

  set value(value) {
    this.#value = value;
    this.shadowRoot.innerHTML = value ? this.constructor.draw(value) : "";
  }
}

export class TilewrightMemory extends Drawing {
  static draw = memory;
}

export class TilewrightSchedule extends Drawing {
  static draw = schedule;
}

customElements.define("tilewright-memory", TilewrightMemory);
customElements.define("tilewright-schedule", TilewrightSchedule);
