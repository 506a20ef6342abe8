// Zooms the panels of the figure: the horizontal axis is shared by all panels, values are each panel's own. Ranges are
// places on the axes: logarithms on a logarithmic one.
"use strict";
const svg = document.querySelector("svg");
const numbers = text => text.split(" ").map(Number);
const panels = [...document.querySelectorAll(".panel")].map(group => {
  const [left, top, width, height] = numbers(group.dataset.frame);
  const [xScale, yScale] = group.dataset.scales.split(" ");
  const marks = [...group.querySelectorAll(".mark")].map(mark => ({ mark, at: numbers(mark.dataset.at) }));
  return { group, xScale, yScale, marks, left, top, width, height, lowest: group.dataset.lowest === "true",
    x: numbers(group.dataset.x), y: numbers(group.dataset.y),
    x0: numbers(group.dataset.x), y0: numbers(group.dataset.y) };
});

// Places and labels.
function ticks([low, high], most, scale) {
  if (scale === "logarithmic") return logarithmic([low, high], most);
  if (scale === "degrees" && (high - low) / most >= 6) {
    const step = [15, 30, 45, 90, 180, 360].find(step => step >= (high - low) / most) || 720;
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push([i * step, String(i * step)]);
    return found;
  }
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) {
    found.push([i * step, String(Number((i * step).toPrecision(12)))]);
  }
  return found;
}

function logarithmic([low, high], most) {
  if (high - low < 1.2) {
    const label = text => String(Number(Number(text).toPrecision(6)));
    return ticks([10 ** low, 10 ** high], most, "linear").map(([value, text]) => [Math.log10(value), label(text)]);
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

const grey = label => label ? "#e4e4e4" : "#f3f3f3";

function draw(panel) {
  const { left, top, width, height, x, y, x0, y0 } = panel;
  const w = x0[1] - x0[0], h = y0[1] - y0[0];
  panel.group.querySelector(".curves").setAttribute("viewBox", [
    (x[0] - x0[0]) / w * width, (y0[1] - y[1]) / h * height,
    (x[1] - x[0]) / w * width, (y[1] - y[0]) / h * height].join(" "));
  let marks = "";
  for (const [value, label] of ticks(x, 10, panel.xScale)) {
    const at = left + (value - x[0]) / (x[1] - x[0]) * width;
    marks += `<path d="M${at} ${top}v${height}" stroke="${grey(label)}"/>`;
    if (panel.lowest) marks += `<text x="${at}" y="${top + height + 18}" text-anchor="middle">${label}</text>`;
  }
  for (const [value, label] of ticks(y, height > 300 ? 7 : 5, panel.yScale)) {
    const at = top + height - (value - y[0]) / (y[1] - y[0]) * height;
    marks += `<path d="M${left} ${at}h${width}" stroke="${grey(label)}"/>` +
      `<text x="${left - 7}" y="${at + 4.5}" text-anchor="end">${label}</text>`;
  }
  panel.group.querySelector(".ticks").innerHTML = marks;
  for (const { mark, at } of panel.marks) {
    const fx = (x0[0] + at[0] * w - x[0]) / (x[1] - x[0]), fy = (y0[0] + at[1] * h - y[0]) / (y[1] - y[0]);
    mark.style.display = fx < 0 || fx > 1 || fy < 0 || fy > 1 ? "none" : "";
    mark.setAttribute("transform", `translate(${left + fx * width} ${top + height - fy * height})`);
  }
}

// The panel under the pointer, and where in it, each from 0 to 1.
function locate(event) {
  const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
  const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
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

svg.addEventListener("wheel", event => {
  const found = locate(event);
  if (!found) return;
  event.preventDefault();
  const factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8;
  if (event.shiftKey) found.panel.y = scaled(found.panel.y, found.fy, factor);
  else for (const panel of panels) panel.x = scaled(panel.x, found.fx, factor);
  panels.forEach(draw);
}, { passive: false });

let held = null;
svg.addEventListener("pointerdown", event => { held = locate(event); });
addEventListener("pointerup", () => { held = null; });
svg.addEventListener("pointermove", event => {
  const found = held && locate(event);
  if (!found || found.panel !== held.panel) return;
  for (const panel of panels) panel.x = moved(panel.x, held.fx - found.fx);
  found.panel.y = moved(found.panel.y, held.fy - found.fy);
  held = found;
  panels.forEach(draw);
});
svg.addEventListener("dblclick", () => {
  for (const panel of panels) { panel.x = panel.x0; panel.y = panel.y0; }
  panels.forEach(draw);
});
