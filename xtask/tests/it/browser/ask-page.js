"use strict";
// What a reader does with a page of `simulate`, and what the page shows then: written into the page as JSON, for the test that
// dumps it. Runs in the page, after its own scripts.
addEventListener("load", () => {
  const found = {};
  try {
    ask(found);
  } catch (error) {
    found.failed = String(error);
  }
  const answers = document.createElement("pre");
  answers.id = "answers";
  answers.textContent = JSON.stringify(found).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  document.body.append(answers);
});

function ask(found) {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const tip = document.querySelector(".tip");
  // The text that stands on a screen of 900 pixels.
  const seen = all("main h1, main h2, main h3, main p").filter((one) => one.getBoundingClientRect().bottom < 900);
  found.screen = seen.map((one) => one.textContent.trim().replaceAll("\u00a0", " ")).join("\n");

  const search = document.getElementById("find-job");
  if (!search) return;
  const seek = (job) => {
    search.value = job;
    search.dispatchEvent(new Event("input"));
    return all("#found-job li").map((row) => row.textContent);
  };
  found.unknown = seek("4711");
  found.seven = seek("7");
  found.marked = all(".found").map((mark) => mark.dataset.job);
  seek("");
  found.cleared = all(".found").map((mark) => mark.dataset.job);

  const send = (target, type, x, y) => target.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, bubbles: true }));
  const lines = () => [...tip.children].map((line) => line.textContent);
  const five = document.querySelector('.plot.schedule [data-job="5"] polygon');
  send(five, "pointermove", 10, 10);
  found.job = lines();
  five.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  found.clicked = search.value;
  seek("");

  const rows = () => all("tr", tip).map((row) => row.textContent);
  const plot = document.querySelector("#queue-length .plot"), svg = plot.querySelector("svg"), box = svg.getBoundingClientRect();
  send(svg, "pointermove", box.left + box.width / 2, box.top + box.height / 2);
  found.crosshair = rows();
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  found.keyboard = rows();
  plot.querySelector(".key").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  send(svg, "pointermove", box.left + box.width / 2, box.top + box.height / 2);
  found.hidden = rows();
}
