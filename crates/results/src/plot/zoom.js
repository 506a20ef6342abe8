// Zooms the panels of the figure and tells the values under the pointer. The horizontal axis is shared by all panels, values are
// each panel's own. Ranges are places on the axes: logarithms on a logarithmic one. Curves are drawn anew from their numbers, of
// which each column of pixels shows the first, lowest, highest and last one.
"use strict";
const svg = document.querySelector("main > svg"), box = document.getElementById("values");
const figure = JSON.parse(document.getElementById("numbers").textContent);
const split = text => text.split(" ").map(Number);
const panels = [...document.querySelectorAll(".panel")].map((group, index) => {
  const [left, top, width, height] = split(group.dataset.frame);
  const marks = [...group.querySelectorAll(".mark")].map(mark => ({ mark, at: split(mark.dataset.at) }));
  const data = figure.panels[index], inside = group.querySelector(".curves");
  const paths = [...inside.querySelectorAll(".curve")], areas = [...inside.querySelectorAll("path.band")];
  data.curves.forEach((curve, k) => { curve.path = paths[k]; curve.colour = paths[k].getAttribute("stroke"); });
  data.bands.forEach((band, k) => { band.path = areas[k]; });
  const blocks = [...inside.querySelectorAll(".block")];
  return { group, inside, data, marks, blocks, left, top, width, height, lowest: group.dataset.lowest === "true",
    xScale: figure.x.scale, yScale: data.y.scale,
    x: split(group.dataset.x), y: split(group.dataset.y), x0: split(group.dataset.x), y0: split(group.dataset.y) };
});
const place = (value, scale) => scale === "logarithmic" ? Math.log10(value) : value;

// Numbers: base 64 of zlib of transposed bytes.
async function decoded(text) {
  const packed = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = bytes.length / 8, straight = new Uint8Array(bytes.length);
  for (let byte = 0; byte < 8; byte++) {
    for (let k = 0, from = byte * count; k < count; k++) straight[8 * k + byte] = bytes[from + k];
  }
  return new Float64Array(straight.buffer);
}
let arrays = null;
Promise.all(figure.arrays.map(decoded)).then(found => { arrays = found; panels.forEach(draw); document.body.dataset.ready = "true"; });

// Places and labels.
function ticks([low, high], most, axis) {
  if (axis.names.length) return axis.names.map((name, k) => [k, name]).filter(([k]) => k >= low && k <= high);
  if (axis.scale === "logarithmic") return logarithmic([low, high], most);
  if (axis.scale === "degrees" && (high - low) / most >= 6) {
    const step = [15, 30, 45, 90, 180, 360].find(step => step >= (high - low) / most) || 720;
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push([i * step, String(i * step)]);
    return found;
  }
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high && found.length < 100; i++) {
    found.push([i * step, String(Number((i * step).toPrecision(12)))]);
  }
  return found;
}

function logarithmic([low, high], most) {
  if (high - low < 1.2) {
    const label = text => String(Number(Number(text).toPrecision(6)));
    const linear = { scale: "linear", names: [] };
    return ticks([10 ** low, 10 ** high], most, linear).map(([value, text]) => [Math.log10(value), label(text)]);
  }
  const step = Math.ceil((high - low) / most), found = [];
  for (let i = Math.floor(low); i <= high; i++) {
    if (i % step === 0 && i >= low) found.push([i, String(Number((10 ** i).toPrecision(6)))]);
    for (let k = 2; k < 10 && step === 1 && high - low <= 8; k++) {
      const place = i + Math.log10(k);
      if (place >= low && place <= high) found.push([place, ""]);
    }
  }
  return found;
}

const grid = label => label ? 'class="grid" stroke="#e4e4e4"' : 'class="fine" stroke="#f3f3f3"';
const plain = text => text.replace(/[&<>]/g, letter => `&#${letter.charCodeAt(0)};`);

// The first number of a rising array that is not below a value.
function first(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// From values to pixels of a panel; what is far outside stays where lines still have their direction.
function places(panel) {
  const { width, height, x, y } = panel, far = 1e5;
  const near = value => value > far ? far : value < -far ? -far : value;
  return {
    across: value => near((place(value, panel.xScale) - x[0]) / (x[1] - x[0]) * width),
    down: value => near((y[1] - place(value, panel.yScale)) / (y[1] - y[0]) * height),
  };
}

const value = (end, scale) => scale === "logarithmic" ? 10 ** end : end;

function outline(panel, curve) {
  const xs = arrays[curve.x], ys = arrays[curve.y], { across, down } = places(panel);
  let from = 0, to = xs.length;
  if (curve.rising) {
    from = Math.max(first(xs, value(panel.x[0], panel.xScale)) - 1, 0);
    to = Math.min(first(xs, value(panel.x[1], panel.xScale)) + 2, xs.length);
    // All rows of the last instant.
    while (to < xs.length && xs[to] === xs[to - 1]) to++;
  }
  const parts = [];
  let open = false, column = NaN, bucket = [];
  const point = ([px, py]) => {
    parts.push(open ? "L" : "M", px.toFixed(2), " ", py.toFixed(2));
    open = true;
  };
  const empty = () => {
    if (bucket.length > 4) {
      let low = 0, high = 0;
      for (let k = 1; k < bucket.length; k++) {
        if (bucket[k][1] < bucket[low][1]) low = k;
        if (bucket[k][1] > bucket[high][1]) high = k;
      }
      const kept = [...new Set([0, low, high, bucket.length - 1])].sort((a, b) => a - b);
      kept.forEach(k => point(bucket[k]));
    } else bucket.forEach(point);
    bucket = [];
  };
  for (let k = from; k < to; k++) {
    const px = across(xs[k]), py = down(ys[k]);
    if (!(Number.isFinite(px) && Number.isFinite(py))) {
      empty();
      if (open && parts.length === 4) parts.push("h0.01");
      open = false;
      continue;
    }
    if (Math.floor(px) !== column) { empty(); column = Math.floor(px); }
    bucket.push([px, py]);
  }
  empty();
  return parts.length === 4 ? parts.join("") + "h0.01" : parts.join("");
}

function area(panel, band) {
  const xs = arrays[band.x], low = arrays[band.lower], high = arrays[band.upper], { across, down } = places(panel);
  let text = "", upper = [], lower = [];
  const close = () => {
    if (upper.length) text += "M" + upper.concat(lower.reverse()).join("L") + "Z";
    upper = []; lower = [];
  };
  for (let k = 0; k < xs.length; k++) {
    const at = across(xs[k]), top = down(high[k]), bottom = down(low[k]);
    if (![at, top, bottom].every(Number.isFinite)) { close(); continue; }
    upper.push(`${at.toFixed(2)} ${top.toFixed(2)}`);
    lower.push(`${at.toFixed(2)} ${bottom.toFixed(2)}`);
  }
  close();
  return text;
}

function draw(panel) {
  const { left, top, width, height, x, y, x0, y0, data } = panel;
  if (arrays) {
    data.curves.forEach(curve => curve.path.setAttribute("d", outline(panel, curve)));
    data.bands.forEach(band => band.path.setAttribute("d", area(panel, band)));
  }
  const { across, down } = places(panel);
  data.blocks.forEach(([x1, x2, y1, y2], k) => {
    const xs = [across(x1), across(x2)].sort((a, b) => a - b), ys = [down(y1), down(y2)].sort((a, b) => a - b);
    const rect = panel.blocks[k];
    rect.setAttribute("x", xs[0]); rect.setAttribute("width", xs[1] - xs[0]);
    rect.setAttribute("y", ys[0]); rect.setAttribute("height", ys[1] - ys[0]);
  });
  let lines = "";
  for (const [value, label] of ticks(x, 8, figure.x)) {
    const at = left + (value - x[0]) / (x[1] - x[0]) * width;
    lines += `<path d="M${at} ${top}v${height}" ${grid(label)}/>`;
    if (panel.lowest) lines += `<text x="${at}" y="${top + height + 18}" text-anchor="middle">${plain(label)}</text>`;
  }
  for (const [value, label] of ticks(y, height > 300 ? 7 : 5, data.y)) {
    const at = top + height - (value - y[0]) / (y[1] - y[0]) * height;
    lines += `<path d="M${left} ${at}h${width}" ${grid(label)}/>` +
      `<text x="${left - 7}" y="${at + 4.5}" text-anchor="end">${plain(label)}</text>`;
  }
  // Numbers of a deep zoom are longer than those that the margin was made for.
  const room = panel.group.querySelector(".ticks");
  room.innerHTML = lines;
  for (const label of room.querySelectorAll('text[text-anchor="end"]')) {
    if (label.getComputedTextLength() > left - 30) {
      label.setAttribute("textLength", left - 30);
      label.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }
  const w = x0[1] - x0[0], h = y0[1] - y0[0];
  for (const { mark, at } of panel.marks) {
    const fx = (x0[0] + at[0] * w - x[0]) / (x[1] - x[0]), fy = (y0[0] + at[1] * h - y[0]) / (y[1] - y[0]);
    mark.style.display = fx < 0 || fx > 1 || fy < 0 || fy > 1 ? "none" : "";
    mark.setAttribute("transform", `translate(${left + fx * width} ${top + height - fy * height})`);
  }
}

// The panel under the pointer, and where in it, each from 0 to 1.
function locate(event) {
  const frame = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / frame.width;
  const px = (event.clientX - frame.left) * scale, py = (event.clientY - frame.top) * scale;
  for (const panel of panels) {
    const fx = (px - panel.left) / panel.width, fy = 1 - (py - panel.top) / panel.height;
    if (fx >= 0 && fx <= 1 && fy >= 0 && fy <= 1) return { panel, fx, fy };
  }
}

const scaled = ([low, high], at, factor) => {
  const centre = low + at * (high - low);
  return [centre - (centre - low) * factor, centre + (high - centre) * factor];
};
const moved = ([low, high], by) => [low + by * (high - low), high + by * (high - low)];
// Ranges below the resolution of numbers cannot be shown.
const shown = ([low, high]) => high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high), 1e-290);

svg.addEventListener("wheel", event => {
  const found = locate(event);
  if (!found) return;
  event.preventDefault();
  const factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8;
  if (event.shiftKey) {
    const y = scaled(found.panel.y, found.fy, factor);
    if (shown(y)) found.panel.y = y;
  } else {
    const x = scaled(found.panel.x, found.fx, factor);
    if (shown(x)) for (const panel of panels) panel.x = x;
  }
  panels.forEach(draw);
  tell(event);
}, { passive: false });

let held = null;
svg.addEventListener("pointerdown", event => { held = locate(event); });
addEventListener("pointerup", () => { held = null; });
svg.addEventListener("pointermove", event => {
  const found = held && locate(event);
  if (found && found.panel === held.panel) {
    for (const panel of panels) panel.x = moved(panel.x, held.fx - found.fx);
    found.panel.y = moved(found.panel.y, held.fy - found.fy);
    held = found;
    panels.forEach(draw);
  }
  tell(event);
});
svg.addEventListener("pointerleave", () => { silence(); });
svg.addEventListener("dblclick", () => {
  for (const panel of panels) { panel.x = panel.x0; panel.y = panel.y0; }
  panels.forEach(draw);
});

// A click on a name of the legend.
for (const panel of panels) {
  for (const entry of panel.group.querySelectorAll(".entry")) {
    const { curve, band } = entry.dataset;
    const subject = curve !== undefined ? panel.data.curves[curve] : band !== undefined ? panel.data.bands[band] : null;
    if (!subject) continue;
    entry.addEventListener("click", () => {
      subject.hidden = !subject.hidden;
      subject.path.style.display = subject.hidden ? "none" : "";
      entry.classList.toggle("hidden", subject.hidden);
    });
  }
}

// The values under the pointer, with a line through all panels.
const digits = value => String(Number(value.toPrecision(10))).replace("-", "\u2212");
const pointers = panels.map(panel => {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("class", "pointer");
  panel.group.append(line);
  return line;
});
function silence() {
  box.hidden = true;
  pointers.forEach(line => line.setAttribute("d", ""));
}

function nearest(panel, curve, at, height) {
  const xs = arrays[curve.x], ys = arrays[curve.y];
  if (curve.rising) {
    let k = first(xs, at);
    if (k > 0 && (k === xs.length || at - xs[k - 1] < xs[k] - at)) k--;
    // Of the rows of an event the last one.
    while (k + 1 < xs.length && xs[k + 1] === xs[k]) k++;
    return k;
  }
  const { across, down } = places(panel), px = across(at), py = (1 - height) * panel.height;
  let best = 0, least = Infinity;
  for (let k = 0; k < xs.length; k++) {
    const distance = (across(xs[k]) - px) ** 2 + (down(ys[k]) - py) ** 2;
    if (distance < least) { least = distance; best = k; }
  }
  return best;
}

function tell(event) {
  const found = arrays && locate(event);
  if (!found || held) return silence();
  const at = value(found.panel.x[0] + found.fx * (found.panel.x[1] - found.panel.x[0]), found.panel.xScale);
  let rows = "", time = null;
  for (const panel of panels) {
    for (const curve of panel.data.curves) {
      if (curve.hidden || !curve.name || !arrays[curve.x].length) continue;
      if (!curve.rising && panel !== found.panel) continue;
      const k = nearest(panel, curve, at, found.fy), x = arrays[curve.x][k];
      if (time === null) time = x;
      const across = curve.rising ? "" : `${digits(x)} \u2192 `;
      rows += `<div><i style="background:${curve.colour}"></i>${plain(curve.name)}` +
        `<span class="number">${across}${digits(arrays[curve.y][k])} ${plain(panel.data.y.unit)}</span></div>`;
    }
  }
  if (!rows) return silence();
  const rising = found.panel.data.curves.every(curve => curve.rising);
  const head = rising ? `<b>${plain(figure.x.quantity)} ${digits(time)} ${plain(figure.x.unit)}</b>` : "";
  box.innerHTML = head + rows;
  box.hidden = false;
  const around = svg.parentElement.getBoundingClientRect();
  const px = event.clientX - around.left, py = event.clientY - around.top;
  box.style.left = (px + box.offsetWidth + 24 > around.width ? Math.max(px - box.offsetWidth - 12, 0) : px + 12) + "px";
  box.style.top = Math.max(py - box.offsetHeight - 8, 0) + "px";
  panels.forEach((panel, k) => {
    const fx = (place(time, panel.xScale) - panel.x[0]) / (panel.x[1] - panel.x[0]);
    const inside = rising && fx >= 0 && fx <= 1;
    pointers[k].setAttribute("d", inside ? `M${panel.left + fx * panel.width} ${panel.top}v${panel.height}` : "");
  });
}
