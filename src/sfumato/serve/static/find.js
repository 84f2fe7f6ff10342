// <sf-find data-search="/api/v2/search">: while words are typed, what they may mean is listed below the box.
import { say } from "./page.js";

const WAIT = 150, LEAST = 2, MOST = 8;

/** @typedef {{ label: string, about: string, release: string, text?: string, said?: string, synonym?: string, links: { href: string }[] }} Found */

class Find extends HTMLElement {
  /** @type {HTMLInputElement | null} */
  #box = null;
  /** @type {HTMLUListElement} */
  #list = document.createElement("ul");
  /** @type {Found[]} */
  #found = [];
  #at = -1;
  #timer = 0;
  #asked = new AbortController();

  connectedCallback() {
    const box = this.querySelector("input[type=search]");
    if (!(box instanceof HTMLInputElement) || this.#box) return;
    this.#box = box;
    this.#list.id = `${box.id}-list`;
    this.#list.hidden = true;
    for (const [name, value] of [["role", "listbox"], ["aria-label", this.dataset.all ?? ""]]) this.#list.setAttribute(name, value);
    const roles = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.#list.id };
    for (const [name, value] of Object.entries(roles)) box.setAttribute(name, value);
    box.form?.append(this.#list);
    box.addEventListener("input", () => this.#soon());
    box.addEventListener("keydown", (event) => this.#pressed(event));
    box.addEventListener("focus", () => { if (this.#found.length) this.#open(true); });
    box.addEventListener("blur", () => this.#open(false));
    // The box keeps the focus while the list is pressed.
    this.#list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => this.#go(optionOf(event.target)));
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#asked.abort();
    this.#timer = setTimeout(() => this.#ask(), WAIT);
  }

  async #ask() {
    const words = this.#box?.value.trim() ?? "";
    if (words.length < LEAST) return this.#show([]);
    this.#asked = new AbortController();
    const url = new URL(this.dataset.search ?? "", location.href);
    url.search = new URLSearchParams({ q: words, size: String(MOST), lang: document.documentElement.lang }).toString();
    try {
      const reply = await fetch(url, { signal: this.#asked.signal, credentials: "same-origin" });
      // Who is told to wait still has the form, which leads to the same.
      if (reply.ok) this.#show((await reply.json()).finds);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) this.#show([]);
    }
  }

  /** @param {Found[]} found */
  #show(found) {
    this.#found = found;
    this.#list.replaceChildren(...found.map((one, place) => optionFor(one, `${this.#list.id}-${place}`)));
    this.#mark(-1);
    this.#open(found.length > 0 && document.activeElement === this.#box);
    if (!found.length && (this.#box?.value.trim().length ?? 0) >= LEAST) say(this.dataset.none ?? "");
  }

  /** @param {boolean} shown */
  #open(shown) {
    this.#list.hidden = !shown;
    this.#box?.setAttribute("aria-expanded", String(shown));
    if (!shown) this.#mark(-1);
  }

  /** @param {number} place */
  #mark(place) {
    this.#at = place;
    [...this.#list.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === place)));
    const chosen = this.#list.children[place];
    if (chosen) {
      this.#box?.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else this.#box?.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const count = this.#found.length;
    if (event.key === "Escape" && !this.#list.hidden) {
      this.#open(false);
    } else if (event.key === "ArrowDown" && count) {
      this.#open(true);
      this.#mark((this.#at + 1) % count);
    } else if (event.key === "ArrowUp" && count) {
      this.#open(true);
      this.#mark(this.#at <= 0 ? count - 1 : this.#at - 1);
    } else if (event.key === "Enter" && this.#at >= 0) {
      this.#go(this.#list.children[this.#at]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Element | null} option */
  #go(option) {
    const found = option && this.#found[[...this.#list.children].indexOf(option)];
    if (!found) return;
    // The server may be called otherwise than here; what it named lies here.
    const at = new URL(found.links[0].href, location.href);
    if (this.dataset.tongue && !at.searchParams.has("lang")) at.searchParams.set("lang", this.dataset.tongue);
    location.assign(at.pathname + at.search);
  }
}

/** @param {EventTarget | null} target */
function optionOf(target) {
  return target instanceof Element ? target.closest("[role=option]") : null;
}

/**
 * One line of the list.
 * @param {Found} one
 * @param {string} id
 */
function optionFor(one, id) {
  const option = document.createElement("li");
  option.id = id;
  option.setAttribute("role", "option");
  const about = [one.about, one.synonym, one.release].filter(Boolean).join(" · ");
  for (const [kind, text] of [["label", one.label], ["number", one.text], ["said", one.said], ["where", about]]) {
    if (!text) continue;
    const part = document.createElement("span");
    part.className = String(kind);
    part.textContent = text;
    option.append(part, " ");
  }
  return option;
}

customElements.define("sf-find", Find);
