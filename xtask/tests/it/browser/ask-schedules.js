"use strict";
// What a reader does with the schedules of a page of `simulate`, and what the page shows then: written into the page as JSON,
// for the test that dumps it. Runs in the page, behind its own scripts.
addEventListener("load", () => {
  const found = {};
  try {
    ask(found);
  } catch (error) {
    found.failed = String(error);
  }
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify(found).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  document.body.append(told);
});

function ask(found) {
  // Plots are drawn as they come into view, of which a browser without a window may not tell.
  for (const one of document.querySelectorAll(".plot")) if (!one.plot.drawn) one.plot.draw();
  // Nobody holds this pointer, so the browser would refuse to capture it.
  HTMLCanvasElement.prototype.setPointerCapture = () => {};
  const box = (name) => document.querySelector(`[data-plot="${name}"]`);
  const pixels = (name) => box(name).querySelector("canvas").toDataURL();
  const schedules = [...document.querySelectorAll(".plot.schedule")].map((one) => one.dataset.plot);
  const levels = [...document.querySelectorAll(".plot")].filter((one) => one.plot.spec.link === "time").map((one) => one.dataset.plot);
  found.schedules = schedules;
  found.linked = levels;
  found.drawn = levels.filter((name) => box(name).plot.drawn);

  // The search: what it tells, and that the job is marked in every schedule.
  const search = document.getElementById("find-job");
  const seek = (job) => {
    search.value = job;
    search.dispatchEvent(new Event("input"));
    return [...document.querySelectorAll("#found-job li")].map((row) => row.textContent);
  };
  const before = schedules.map(pixels);
  found.nobody = seek("4711");
  found.seven = seek("7");
  found.marked = schedules.map((name, k) => pixels(name) !== before[k]);
  found.cleared = seek("");
  found.unmarked = schedules.map((name, k) => pixels(name) === before[k]);

  // The pointer, at shares of the plotted area.
  const send = (name, type, [across, down]) => {
    const canvas = box(name).querySelector("canvas"), at = canvas.getBoundingClientRect();
    const { left, right, top, bottom } = box(name).plot.area;
    const clientX = at.left + left + across * (right - left), clientY = at.top + top + down * (bottom - top);
    canvas.dispatchEvent(new PointerEvent(type, { clientX, clientY, pointerType: "mouse", pointerId: 1, bubbles: true }));
  };
  const middle = (name, job) => {
    const { spec, x: [low, high], ys: [[bottom, top]] } = box(name).plot;
    const bar = spec.bars.find((one) => one.job === job), [first, count] = bar.blocks[0];
    return [((bar.start + bar.end) / 2 - low) / (high - low), (top - first - count / 2) / (top - bottom)];
  };
  const [one, other] = schedules;
  send(one, "pointermove", middle(one, "5"));
  found.tip = [...box(one).querySelector(".tip").children].map((line) => line.textContent);
  found.tipHidden = box(one).querySelector(".tip").hidden;
  send(one, "pointerdown", middle(one, "5"));
  send(one, "pointerup", middle(one, "5"));
  found.clicked = search.value;
  seek("");

  // A stretch of one schedule, dragged, is shown in all that share its time; the other's button shows all again.
  const views = () => levels.map((name) => box(name).plot.x);
  const buttons = () => levels.map((name) => !box(name).querySelector(".zoom-out").hidden);
  found.whole = views();
  send(one, "pointerdown", [0.25, 0.5]);
  send(one, "pointermove", [0.4, 0.5]);
  found.rubber = !box(one).querySelector(".rubber").hidden;
  send(one, "pointerup", [0.5, 0.5]);
  found.zoomed = views();
  found.zoomButtons = buttons();
  found.redrawn = schedules.map((name, k) => pixels(name) !== before[k]);
  box(other).querySelector(".zoom-out").click();
  found.back = views();
  found.backButtons = buttons();
  found.asBefore = schedules.map((name, k) => pixels(name) === before[k]);
}
