// <sf-card>: the card of one cell is placed beside it, over the table; where the cell is out of sight it stays in its corner.

const NARROW = matchMedia("(max-width: 760px)");
const GAP = 12;

// Where the card stands is a rule, as no element has a style of its own here.
const PLACE = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, PLACE];

class Card extends HTMLElement {
  connectedCallback() {
    PLACE.replaceSync("");
    // The table around it is laid out first, in the letters that it keeps.
    document.fonts.ready.then(() => requestAnimationFrame(() => this.#place()));
  }

  #place() {
    const card = this.querySelector(".detail-card");
    const cell = this.closest(".sheet")?.querySelector("td.sel");
    const sheet = this.closest(".sheet");
    if (!(card instanceof HTMLElement) || !cell || !sheet) return;
    if (NARROW.matches) intoView(cell);
    const at = cell.getBoundingClientRect();
    if (at.bottom < 0 || (at.top > innerHeight && !NARROW.matches)) return;
    if (NARROW.matches) {
      const hidden = at.bottom + GAP - card.getBoundingClientRect().top;
      if (hidden > 0) scrollBy(0, hidden);
      return;
    }
    const around = sheet.getBoundingClientRect();
    const { width, height } = card.getBoundingClientRect();
    const right = at.right + GAP + width <= around.right;
    const left = right ? at.right + GAP : Math.max(at.left - GAP - width, around.left);
    // Under the heads where there is room, as they say what the cell is of.
    const heads = cell.closest("table")?.tHead?.getBoundingClientRect().bottom ?? 0;
    const top = Math.max(GAP, Math.min(Math.max(at.top - height / 4, heads + 2), innerHeight - height - GAP));
    const inset = `${top - around.top}px auto auto ${left - around.left}px`;
    PLACE.replaceSync(`@media screen and (min-width: 761px) { sf-card > .detail-card { position: absolute; inset: ${inset}; } }`);
  }
}

/**
 * Scroll a table sideways until a cell is seen beside its head; the page stays where it is.
 * @param {Element} cell
 */
function intoView(cell) {
  const scroll = cell.closest(".scroll");
  const head = cell.closest("tr")?.querySelector("th");
  if (!scroll || !head) return;
  const [at, from] = [cell.getBoundingClientRect(), head.getBoundingClientRect().right];
  const end = scroll.getBoundingClientRect().right;
  if (at.right > end) scroll.scrollLeft += at.right - end;
  else if (at.left < from) scroll.scrollLeft -= from - at.left;
}

customElements.define("sf-card", Card);
