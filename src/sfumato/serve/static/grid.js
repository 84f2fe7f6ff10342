// <sf-grid>: one stop of the tab key for a whole table; the arrows go from cell to cell, Enter opens one.

const FAR = 10;
const ABOVE = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, ABOVE];

class Grid extends HTMLElement {
  /** @type {ResizeObserver | null} */
  #sizes = null;

  connectedCallback() {
    const scroll = this.#scroll;
    if (!scroll) return;
    this.addEventListener("keydown", (event) => this.#pressed(event));
    this.addEventListener("focusin", (event) => this.#entered(event));
    scroll.addEventListener("scroll", () => this.#edges(), { passive: true });
    this.#sizes = new ResizeObserver(() => this.#edges());
    this.#sizes.observe(scroll);
    this.#fit(scroll);
    this.#rove();
  }

  /**
   * A table ends where the window does, so that its row of totals is in sight.
   * @param {HTMLElement} scroll
   */
  #fit(scroll) {
    const above = scroll.getBoundingClientRect().top + scrollY;
    if (above < innerHeight / 2) ABOVE.replaceSync(`:root { --above: ${above}px; }`);
  }

  disconnectedCallback() {
    this.#sizes?.disconnect();
  }

  /** @returns {HTMLElement | null} */
  get #scroll() {
    return this.querySelector(".scroll");
  }

  /** @returns {HTMLElement[][]} */
  get #rows() {
    const rows = [...this.querySelectorAll("tbody tr, tfoot tr")];
    return rows.map((row) => /** @type {HTMLElement[]} */ ([...row.querySelectorAll("td:not(.rank) > .v")]));
  }

  #rove() {
    const cells = this.#rows.flat();
    if (!cells.length) return;
    const first = cells.find((one) => one.closest("td.sel")) ?? cells[0];
    for (const one of cells) one.tabIndex = one === first ? 0 : -1;
    // The cells scroll the region as they are walked through, so it need not be a stop of its own.
    this.#scroll?.removeAttribute("tabindex");
  }

  /** @param {FocusEvent} event */
  #entered(event) {
    const cell = event.target instanceof HTMLElement ? event.target.closest("td > .v") : null;
    if (!(cell instanceof HTMLElement)) return;
    for (const one of this.querySelectorAll("td > .v[tabindex='0']")) if (one instanceof HTMLElement) one.tabIndex = -1;
    cell.tabIndex = 0;
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const cell = event.target instanceof HTMLElement ? event.target.closest("td > .v") : null;
    if (!(cell instanceof HTMLElement) || event.altKey || event.metaKey || event.shiftKey) return;
    const rows = this.#rows;
    const row = rows.findIndex((one) => one.includes(cell));
    const to = placed(event, row, rows[row].indexOf(cell), rows);
    if (!to) return;
    event.preventDefault();
    to.focus();
    to.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #edges() {
    const scroll = this.#scroll;
    if (!scroll) return;
    const hidden = scroll.scrollWidth - scroll.clientWidth;
    this.toggleAttribute("data-wide", hidden > 1);
    this.toggleAttribute("data-more", hidden - scroll.scrollLeft > 1);
  }
}

/**
 * The cell that a key goes to.
 * @param {KeyboardEvent} event
 * @param {number} row
 * @param {number} column
 * @param {HTMLElement[][]} rows
 * @returns {HTMLElement | undefined}
 */
function placed(event, row, column, rows) {
  const bottom = rows.length - 1;
  const right = rows[row].length - 1;
  const at = (/** @type {number} */ down, /** @type {number} */ along) => rows[Math.max(0, Math.min(bottom, down))]?.[Math.max(0, along)];
  switch (event.key) {
    case "ArrowRight": return event.ctrlKey ? at(row, right) : at(row, Math.min(column + 1, right));
    case "ArrowLeft": return event.ctrlKey ? at(row, 0) : at(row, column - 1);
    case "ArrowDown": return event.ctrlKey ? at(bottom, column) : at(row + 1, column);
    case "ArrowUp": return event.ctrlKey ? at(0, column) : at(row - 1, column);
    case "PageDown": return at(row + FAR, column);
    case "PageUp": return at(row - FAR, column);
    case "Home": return event.ctrlKey ? at(0, 0) : at(row, 0);
    case "End": return event.ctrlKey ? rows[bottom].at(-1) : at(row, right);
    default: return undefined;
  }
}

customElements.define("sf-grid", Grid);
