// <sf-area>: the corners of a reader's own area, set on the map by pointer or by keyboard, and put into the address.
import { say } from "./page.js";

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 200000;
const NEAR = 14;
const STEPS = new Map([["ArrowLeft", [-1, 0]], ["ArrowRight", [1, 0]], ["ArrowUp", [0, -1]], ["ArrowDown", [0, 1]]]);

// Who comes with an area of a file finds the page at its answer, and hears it once; other answers the builder says.
let arriving = location.hash === "#area";

/** @typedef {{ x: number, y: number }} Point A place on the grid of the map. */

class Area extends HTMLElement {
  /** @type {Point[]} */
  #corners = [];
  /** @type {Point} */
  #cross = { x: 0, y: 0 };
  /** @type {HTMLElement | null} */
  #board = null;
  /** @type {SVGGElement | null} */
  #draft = null;
  #place = "";

  connectedCallback() {
    const tools = this.querySelector(".tools");
    if (!tools || !this.closest("sf-builder")) return;
    tools.removeAttribute("hidden");
    tools.addEventListener("click", (event) => this.#asked(event));
    if (arriving && this.dataset.said) say(this.dataset.said);
    arriving = false;
    this.#file();
  }

  disconnectedCallback() {
    this.#leave();
  }

  /** The grid of the map that is seen now: the wide one or the one for phones.
   * @returns {SVGGElement | null} */
  get grid() {
    const found = [...document.querySelectorAll("figure.picture .pic-grid")];
    const seen = found.find((one) => one.getClientRects().length > 0 && one.getBoundingClientRect().width > 0);
    return seen instanceof SVGGElement ? seen : null;
  }

  /** @param {Event} event */
  #asked(event) {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const act = { draw: () => this.#start(), back: () => this.#back(), close: () => this.#close(), leave: () => this.#leave(true) };
    const name = /** @type {keyof typeof act | undefined} */ (button?.dataset.do);
    if (name) act[name]();
  }

  #start() {
    const grid = this.grid;
    const around = grid?.closest("svg")?.parentElement;
    if (!grid || !around) return;
    this.#leave();
    const box = grid.getBBox();
    this.#cross = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    this.#draft = document.createElementNS(SVG, "g");
    this.#draft.setAttribute("class", "draft");
    grid.append(this.#draft);
    const board = Object.assign(document.createElement("div"), { className: "board", tabIndex: 0 });
    board.setAttribute("role", "application");
    board.setAttribute("aria-label", this.dataset.board ?? "");
    board.addEventListener("click", (event) => this.#pressed(event));
    board.addEventListener("pointermove", (event) => this.#moved(this.#at(event)));
    board.addEventListener("keydown", (event) => this.#typed(event));
    around.classList.add("drawing");
    around.append(board);
    this.#board = board;
    this.#tell();
    board.focus({ preventScroll: true });
    board.scrollIntoView({ block: "nearest" });
  }

  /**
   * Where on the grid the pointer is.
   * @param {MouseEvent} event
   * @returns {Point}
   */
  #at(event) {
    const turned = this.#draft?.getScreenCTM()?.inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(turned);
    return { x: point.x, y: point.y };
  }

  /** @param {Point} point */
  #seen(point) {
    return new DOMPoint(point.x, point.y).matrixTransform(this.#draft?.getScreenCTM() ?? undefined);
  }

  /**
   * @param {Point} one
   * @param {Point | undefined} other
   */
  #near(one, other) {
    if (!other) return false;
    const [from, to] = [this.#seen(one), this.#seen(other)];
    return Math.hypot(from.x - to.x, from.y - to.y) < NEAR;
  }

  /** @param {MouseEvent} event */
  #pressed(event) {
    event.preventDefault();
    this.#cross = this.#at(event);
    if (this.#corners.length > 2 && this.#near(this.#cross, this.#corners[0])) this.#close();
    else if (!this.#near(this.#cross, this.#corners.at(-1))) this.#set();
  }

  /** @param {Point} point */
  #moved(point) {
    this.#cross = point;
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #typed(event) {
    const step = STEPS.get(event.key);
    const box = this.grid?.getBBox();
    if (step && box) {
      const far = (Math.max(box.width, box.height) / 100) * (event.shiftKey ? 10 : 1);
      const held = (/** @type {number} */ at, /** @type {number} */ low, /** @type {number} */ size) => Math.min(Math.max(at, low), low + size);
      this.#moved({ x: held(this.#cross.x + step[0] * far, box.x, box.width), y: held(this.#cross.y + step[1] * far, box.y, box.height) });
      this.#name();
    } else if (event.key === "Enter" || event.key === " ") {
      const again = this.#corners.length > 2 && this.#near(this.#cross, this.#corners.at(-1));
      if (again || (this.#corners.length > 2 && this.#near(this.#cross, this.#corners[0]))) this.#close();
      else this.#set();
    } else if (event.key === "Backspace") this.#back();
    else if (event.key === "Escape") this.#leave(true);
    else return;
    event.preventDefault();
  }

  /** What lies under the cross, said when it is another area than before. */
  #name() {
    const place = this.#under();
    if (place !== this.#place) say(place);
    this.#place = place;
  }

  #under() {
    const seen = this.#seen(this.#cross);
    const svg = this.#draft?.closest("svg");
    const mark = document.elementsFromPoint(seen.x, seen.y).filter((one) => svg?.contains(one)).map((one) => one.closest(".pic-mark")).find(Boolean);
    // Its name alone: who sets corners does not hear the number of every area again.
    return mark?.getAttribute("data-name") ?? mark?.querySelector("title")?.textContent ?? this.dataset.far ?? "";
  }

  #set() {
    this.#corners.push({ x: Math.round(this.#cross.x), y: Math.round(this.#cross.y) });
    const said = (this.dataset.corner ?? "").replace("{count}", String(this.#corners.length));
    say(said.replace("{place}", this.#under()));
    this.#tell();
  }

  #back() {
    this.#corners.pop();
    this.#tell();
    this.#board?.focus({ preventScroll: true });
  }

  /** The area goes into the form and with it into the address; the page that comes has its number. */
  #close() {
    const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form#build"));
    const name = this.dataset.name ?? "";
    if (!form || this.#corners.length < 3) return;
    for (const one of form.querySelectorAll("input[type=hidden]")) if (one.getAttribute("name") === name) one.remove();
    const value = `M${this.#corners.map((one) => `${one.x} ${one.y}`).join(" ")}Z`;
    form.prepend(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    this.#leave();
    /** @type {HTMLElement | null} */ (this.closest("#area"))?.focus({ preventScroll: true });
    form.requestSubmit();
  }

  /** @param {boolean} [back] whether the focus goes back to where drawing began */
  #leave(back = false) {
    this.#board?.parentElement?.classList.remove("drawing");
    this.#board?.remove();
    this.#draft?.remove();
    [this.#board, this.#draft, this.#corners, this.#place] = [null, null, [], ""];
    this.#tell();
    if (back) /** @type {HTMLElement | null} */ (this.querySelector("[data-do=draw]"))?.focus();
  }

  /** Which buttons there are now, and the draft on the map. */
  #tell() {
    const on = this.#board !== null;
    const there = { draw: !on, back: on && this.#corners.length > 0, close: on && this.#corners.length > 2, leave: on };
    for (const [name, shown] of Object.entries(there)) this.querySelector(`[data-do=${name}]`)?.toggleAttribute("hidden", !shown);
    this.querySelector(".how")?.toggleAttribute("hidden", !on);
    this.querySelector("[data-done]")?.toggleAttribute("hidden", on);
    this.#draw();
  }

  #draw() {
    const draft = this.#draft;
    if (!draft) return;
    const unit = 1 / (draft.getScreenCTM()?.a ?? 1);
    const path = [...this.#corners, this.#cross].map((one) => `${one.x} ${one.y}`).join(" ");
    const [x, y, arm] = [this.#cross.x, this.#cross.y, 10 * unit];
    const dots = this.#corners.map((one) => `M${one.x - 3 * unit} ${one.y}h${6 * unit}M${one.x} ${one.y - 3 * unit}v${6 * unit}`).join("");
    const cross = `M${x - arm} ${y}h${2 * arm}M${x} ${y - arm}v${2 * arm}`;
    const lines = [["under", `M${path}`], ["line", `M${path}${dots}`], ["under", cross], ["cross", cross]];
    draft.replaceChildren(...lines.map(([kind, d]) => {
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("class", kind);
      line.setAttribute("d", d);
      return line;
    }));
  }

  #file() {
    const field = this.querySelector("textarea");
    if (!field || this.querySelector("input[type=file]")) return;
    const label = document.createElement("label");
    const file = Object.assign(document.createElement("input"), { type: "file", accept: ".geojson,.json,application/geo+json" });
    label.append(this.dataset.file ?? "", " ", file);
    field.after(label);
    field.addEventListener("input", () => field.setCustomValidity(field.value.length > LONGEST ? this.dataset.long ?? "" : ""));
    file.addEventListener("change", async () => {
      const chosen = file.files?.[0];
      if (!chosen) return;
      file.setCustomValidity(chosen.size > LONGEST ? this.dataset.long ?? "" : "");
      if (!file.reportValidity()) return;
      field.value = await chosen.text();
      field.form?.requestSubmit();
    });
  }
}

customElements.define("sf-area", Area);
