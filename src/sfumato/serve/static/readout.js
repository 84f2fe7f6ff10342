// A readout beside the mark of a picture that is pointed at or has the focus; the mark itself leads to its cell.

const GAP = 14;

// Where the readout stands is a rule, as no element has a style of its own here.
const PLACE = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, PLACE];

/** @type {Element | null} */
let shown = null;

/** @param {EventTarget | null} target */
function markOf(target) {
  return target instanceof Element ? target.closest(".picture a.pic-mark[data-name]") : null;
}

/** @param {Element} mark */
function show(mark) {
  if (shown === mark) return;
  hide();
  const figure = mark.closest(".picture");
  if (!(figure instanceof HTMLElement)) return;
  shown = mark;
  // The browser's own tip would lie over the readout; the name of the link stays what it was.
  mark.querySelector(":scope > title")?.remove();
  const said = mark.getAttribute("aria-label") ?? "";
  const name = mark.getAttribute("data-name") ?? "";
  const readout = document.createElement("div");
  readout.className = "readout";
  readout.setAttribute("aria-hidden", "true");
  readout.append(line("b", name), line("span", said.startsWith(`${name}: `) ? said.slice(name.length + 2) : said));
  if (figure.dataset.open && mark.getAttribute("href")?.endsWith("#detail")) readout.append(line("i", figure.dataset.open));
  figure.append(readout);
  place(mark, figure, readout);
}

/**
 * @param {string} kind
 * @param {string} words
 */
function line(kind, words) {
  const element = document.createElement(kind);
  element.textContent = words;
  return element;
}

/**
 * Over the mark, or under it where there is no room, and inside of the figure.
 * @param {Element} mark
 * @param {HTMLElement} figure
 * @param {HTMLElement} readout
 */
function place(mark, figure, readout) {
  const at = (mark.querySelector("circle, polygon, polyline, path, rect[class]") ?? mark).getBoundingClientRect();
  const around = figure.getBoundingClientRect();
  const { width, height } = readout.getBoundingClientRect();
  const middle = (at.left + at.right) / 2 - width / 2;
  const left = Math.max(around.left + 4, Math.min(middle, around.right - width - 4)) - around.left;
  const over = at.top - around.top - height - GAP;
  const top = at.top - height - GAP < 0 ? at.bottom - around.top + GAP : over;
  PLACE.replaceSync(`.picture > .readout { left: ${left}px; top: ${top}px; }`);
}

function hide() {
  shown = null;
  for (const one of document.querySelectorAll(".picture > .readout")) one.remove();
}

for (const name of ["pointerover", "focusin"]) {
  document.addEventListener(name, (event) => {
    const mark = markOf(event.target);
    if (mark) show(mark);
    else if (name === "focusin" || !document.activeElement?.closest("a.pic-mark")) hide();
  });
}
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shown) {
    hide();
    event.stopPropagation();
  }
}, true);
