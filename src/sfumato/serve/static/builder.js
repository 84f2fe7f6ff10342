// <sf-builder>: the table changes in place; its address, the way back and the focus stay as with a full page.
import { addressOf, fetched, finderOf, isPlain, say } from "./page.js";
import { choose } from "./picker.js";

/** @import { Page } from "./page.js" */

const NARROW = matchMedia("(max-width: 760px)");
const TICKS_WAIT = 450;
// What stands outside the element and says something of the table in it.
const AROUND = ["title", "link[rel=canonical]", ".tongues"];

// What names a column or a row of the table that is shown now.
const OF_COLUMN = ["sort", "order", "of", "line"];

// What the form carries unseen and links choose.
const CARRIED = ["sort", "order", "view", "chart", "map", "of", "hold"];

class Builder extends HTMLElement {
  /** @type {AbortController | null} */
  #asking = null;
  /** @type {number | undefined} */
  #waiting = undefined;
  #shown = location.pathname + location.search;
  #back = () => this.#popped();
  #fold = () => this.#folds();

  connectedCallback() {
    this.addEventListener("submit", (event) => this.#submitted(event));
    this.addEventListener("click", (event) => this.#clicked(event));
    this.addEventListener("change", (event) => this.#changed(event));
    this.addEventListener("keydown", (event) => this.#escaped(event));
    addEventListener("popstate", this.#back);
    NARROW.addEventListener("change", this.#fold);
    this.#folds();
  }

  disconnectedCallback() {
    removeEventListener("popstate", this.#back);
    NARROW.removeEventListener("change", this.#fold);
  }

  /** @returns {HTMLFormElement | null} */
  get form() {
    return this.querySelector("form#build");
  }

  /** @param {SubmitEvent} event */
  #submitted(event) {
    if (!(event.target instanceof HTMLFormElement) || event.target !== this.form) return;
    event.preventDefault();
    clearTimeout(this.#waiting);
    const url = addressOf(event.target, event.submitter);
    if (event.submitter?.hasAttribute("data-dialog")) {
      choose(url, event.submitter, (page, opener) => this.show(page, { finder: finderOf(opener) }));
      return;
    }
    if (event.submitter?.classList.contains("go")) this.#folds();
    this.go(url);
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || !isPlain(event, link)) return;
    const url = new URL(link.href);
    const table = new URL(this.form?.action ?? location.href).pathname;
    if (url.pathname !== table || (url.hash && url.search === location.search)) return;
    event.preventDefault();
    this.#carry(url);
    this.go(url);
  }

  /**
   * What a link chooses is in the form at once, so that a cell that is pressed before the answer came keeps it.
   * @param {URL} url
   */
  #carry(url) {
    for (const name of CARRIED) {
      for (const one of this.querySelectorAll(`form#build > input[name=${name}]`)) one.remove();
      for (const value of url.searchParams.getAll(name)) {
        this.form?.prepend(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
      }
    }
  }

  /**
   * Escape closes the card of a cell; the focus stays on the cell, or goes back to it.
   * @param {KeyboardEvent} event
   */
  #escaped(event) {
    const shut = this.querySelector("#detail .shut");
    if (event.key !== "Escape" || event.defaultPrevented || !(shut instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    shut.click();
  }

  /** @param {Event} event */
  #changed(event) {
    const field = event.target;
    if (!(field instanceof HTMLSelectElement || field instanceof HTMLInputElement) || field.form !== this.form) return;
    if (field instanceof HTMLSelectElement && field.closest(".place > select")) this.#exchange(field);
    clearTimeout(this.#waiting);
    const wait = field.closest(".ticks") ? TICKS_WAIT : 0;
    this.#waiting = setTimeout(() => this.form && this.go(addressOf(this.form, null)), wait);
  }

  /**
   * A variable stands in one place only: where it stood before goes what stood here. What names a column of the old
   * table is dropped.
   * @param {HTMLSelectElement} field
   */
  #exchange(field) {
    const before = [...field.options].find((one) => one.defaultSelected)?.value ?? "";
    const others = /** @type {HTMLSelectElement[]} */ ([...this.querySelectorAll(".place > select")]);
    for (const other of others) {
      if (other === field || !field.value || other.value !== field.value) continue;
      // Rows are never empty: where nothing stood here, they take the first variable that stands nowhere.
      const taken = others.filter((one) => one !== other).map((one) => one.value);
      const free = [...other.options].map((one) => one.value).filter((one) => !one || !taken.includes(one));
      other.value = free.includes(before) ? before : free[0] ?? other.options[0].value;
    }
    for (const name of OF_COLUMN) for (const one of this.querySelectorAll(`form#build > input[name=${name}]`)) one.remove();
  }

  #popped() {
    // Going to a place within the page is not a change of the table.
    if (location.pathname + location.search === this.#shown) return;
    this.go(new URL(location.href), false);
  }

  /**
   * Show another table; whatever fails, the browser goes there as it would without us.
   * @param {URL} url
   * @param {boolean} [push]
   */
  async go(url, push = true) {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.setAttribute("aria-busy", "true");
    try {
      const page = await fetched(url, asking.signal);
      if (asking === this.#asking) this.show(page, { push });
    } catch (error) {
      if (asking.signal.aborted) return;
      location.assign(url);
    } finally {
      if (asking === this.#asking) this.removeAttribute("aria-busy");
    }
  }

  /**
   * Put a fetched page in place of this one.
   * @param {Page} page
   * @param {{ push?: boolean, finder?: (root: ParentNode) => HTMLElement | null }} [how]
   */
  show(page, { push = true, finder = finderOf(document.activeElement) } = {}) {
    const next = page.document.querySelector("sf-builder");
    if (!next) throw new Error("the page has no table");
    const held = this.contains(document.activeElement);
    const title = this.querySelector("h1")?.textContent;
    const keep = this.#state();
    const cell = finderOf(this.querySelector("td.sel > button"));
    if (page.ok) this.replaceChildren(...next.childNodes);
    else this.#refuse(next);
    this.#restore(keep, title === this.querySelector("h1")?.textContent);
    this.#around(page);
    this.#remember(page, push);
    if (held) this.#focus(finder(this) ?? cell(this));
    this.#announce();
  }

  /**
   * A table that cannot be shown says so; the form keeps what was chosen, so that it can be mended.
   * @param {Element} next
   */
  #refuse(next) {
    const [old, sheet] = [this.querySelector(".sheet"), next.querySelector(".sheet")];
    if (!old || !sheet) throw new Error("the page has no sheet");
    old.replaceWith(sheet);
  }

  #state() {
    const scrolled = [...this.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
    const ticks = [...this.querySelectorAll("details[id]")].map((one) => [one.id, one.hasAttribute("open")]);
    return { scrolled, open: new Map(/** @type {[string, boolean][]} */ (ticks)) };
  }

  /**
   * @param {{ scrolled: number[][], open: Map<string, boolean> }} kept
   * @param {boolean} sameTable
   */
  #restore(kept, sameTable) {
    for (const one of this.querySelectorAll("details[id]")) {
      const open = kept.open.get(one.id);
      if (open !== undefined) one.toggleAttribute("open", open);
    }
    if (!sameTable) return;
    this.querySelectorAll(".scroll").forEach((one, place) => {
      [one.scrollLeft, one.scrollTop] = kept.scrolled[place] ?? [0, 0];
    });
  }

  /** @param {Page} page */
  #around(page) {
    for (const selector of AROUND) {
      const [old, next] = [document.querySelector(selector), page.document.querySelector(selector)];
      if (old && next) old.replaceWith(next);
      else if (next) document.head.append(next);
    }
  }

  /**
   * @param {Page} page
   * @param {boolean} push
   */
  #remember(page, push) {
    const canonical = page.ok ? document.querySelector("link[rel=canonical]")?.getAttribute("href") : null;
    const address = new URL(canonical ?? page.url, location.href);
    if (push && address.href !== location.href) history.pushState(null, "", address);
    this.#shown = location.pathname + location.search;
  }

  /**
   * Where the reader was, or, where that is no more, the heading of what is there now.
   * @param {HTMLElement | null} again
   */
  #focus(again) {
    const heading = this.querySelector("h1");
    if (!again) heading?.setAttribute("tabindex", "-1");
    (again ?? heading)?.focus({ preventScroll: true });
    // The answer to a drawing stands below the map, or above what was seen last.
    again?.querySelector(".answer .big, :scope > .notice")?.scrollIntoView({ block: "nearest" });
  }

  #announce() {
    const detail = this.querySelector("#detail");
    if (!detail || !new URLSearchParams(location.search).has("cell")) {
      const told = [...this.querySelectorAll("[data-said]")].map((one) => one.getAttribute("data-said")).find(Boolean);
      say(told ?? this.querySelector("h1")?.textContent ?? "");
      return;
    }
    const told = [...detail.querySelectorAll("h2, .big, .compared p")];
    say(told.map((one) => one.textContent?.trim().replace(/\s+/g, " ").replace(/\.?$/, ".")).join(" "));
  }

  /** On a narrow screen the table comes first and the form is folded away. */
  #folds() {
    this.querySelector("#fold")?.toggleAttribute("open", !NARROW.matches);
  }
}

customElements.define("sf-builder", Builder);
