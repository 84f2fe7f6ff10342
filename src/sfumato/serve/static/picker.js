// <sf-picker>: a search that answers while one types and a count that keeps up; and the same page as a dialog.
import { addressOf, fetched, finderOf, isPlain, say } from "./page.js";

/** @import { Page } from "./page.js" */

const TYPING = 250;

class Picker extends HTMLElement {
  /** @type {number | undefined} */
  #typing = undefined;

  connectedCallback() {
    this.addEventListener("input", (event) => this.#typed(event));
    this.addEventListener("change", () => this.#count());
    this.addEventListener("click", (event) => this.#clicked(event));
    this.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** Whether every code is on the page, so that nothing need be asked to search it. */
  get whole() {
    return this.hasAttribute("whole") && !this.querySelector("[name=find]")?.getAttribute("value");
  }

  /** @param {Event} event */
  #typed(event) {
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || field.name !== "find") return;
    clearTimeout(this.#typing);
    if (this.whole) this.#typing = setTimeout(() => this.#find(field.value), 60);
    else if (this.closest("dialog")) this.#typing = setTimeout(() => press(field.form, "search"), TYPING);
  }

  /** @param {string} written */
  #find(written) {
    const words = written.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const item of this.querySelectorAll(".tree > ul > li")) found += filtered(/** @type {HTMLElement} */ (item), words, false);
    const told = this.querySelector("#pick-found");
    const text = (found ? this.dataset.found : this.dataset.none) ?? "";
    const shown = words.length ? text.replace("#", found.toLocaleString(document.documentElement.lang)).replace("@", written.trim()) : "";
    if (told) told.textContent = shown;
    this.querySelector(".all-found")?.toggleAttribute("hidden", !words.length || !found);
    if (shown) say(shown);
  }

  #count() {
    const boxes = this.querySelectorAll(".tree input[name=c]:checked, input[type=hidden][name=c]").length;
    const told = this.querySelector("#pick-chosen");
    if (told) told.textContent = (this.dataset.chosen ?? "#").replace("#", boxes.toLocaleString(document.documentElement.lang));
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button?.name === "clear") {
      event.preventDefault();
      for (const one of this.querySelectorAll("input[type=hidden][name=c]")) one.remove();
      this.#tick(this.querySelectorAll(".tree input[name=c]"), false);
    } else if (button?.name === "add" && button.value.startsWith("under:")) {
      event.preventDefault();
      this.#tick(button.parentElement?.querySelectorAll(":scope > ul > li > label > input") ?? [], true);
    } else if (button?.name === "add" && button.value === "found:" && this.whole) {
      event.preventDefault();
      this.#tick(this.querySelectorAll(".tree li.hit > label > input"), true);
    }
  }

  /**
   * @param {Iterable<Element>} boxes
   * @param {boolean} ticked
   */
  #tick(boxes, ticked) {
    for (const one of boxes) if (one instanceof HTMLInputElement) one.checked = ticked;
    this.#count();
    say(this.querySelector("#pick-chosen")?.textContent ?? "");
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const field = event.target;
    if (event.key !== "Enter" || !(field instanceof HTMLInputElement)) return;
    if (field.name === "find" && this.whole) event.preventDefault();
    if (field.name === "name") {
      event.preventDefault();
      press(field.form, "make");
    }
  }
}

/**
 * Send a form as its named button would.
 * @param {HTMLFormElement | null} form
 * @param {string} name
 */
function press(form, name) {
  const button = form?.querySelector(`button[name=${name}]`);
  if (button instanceof HTMLButtonElement) form?.requestSubmit(button);
}

/**
 * Hide what was not looked for; below a code that was found, everything is there to be opened.
 * @param {HTMLElement} item
 * @param {string[]} words
 * @param {boolean} inside
 * @returns {number} how many codes were found
 */
function filtered(item, words, inside) {
  const label = item.querySelector(":scope > label");
  const text = (label?.querySelector(".code")?.textContent ?? "") + " " + (label?.querySelector(".name")?.textContent ?? "");
  const hit = words.length > 0 && words.every((word) => text.toLowerCase().includes(word));
  const branch = item.querySelector(":scope > details");
  let below = 0;
  for (const one of branch?.querySelectorAll(":scope > ul > li") ?? []) below += filtered(/** @type {HTMLElement} */ (one), words, inside || hit);
  item.classList.toggle("hit", hit);
  branch?.querySelector(":scope > .below")?.toggleAttribute("hidden", words.length > 0 && !hit && !inside);
  item.hidden = words.length > 0 && !hit && !inside && below === 0;
  marks(label, hit ? words : []);
  if (branch) branch.toggleAttribute("open", words.length > 0 ? below > 0 : branch.querySelector(":checked") !== null);
  return below + (hit ? 1 : 0);
}

/**
 * Mark what was looked for in the code and the name.
 * @param {Element | null} label
 * @param {string[]} words
 */
function marks(label, words) {
  for (const part of label?.querySelectorAll(".code, .name") ?? []) {
    const text = part.textContent ?? "";
    if (!words.length) {
      if (part.firstElementChild) part.textContent = text;
      continue;
    }
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
    part.replaceChildren(...text.split(pattern).map((piece, place) => (place % 2 ? marked(piece) : piece)));
  }
}

/** @param {string} text */
function marked(text) {
  const mark = document.createElement("mark");
  mark.textContent = text;
  return mark;
}

/**
 * Choose codes without leaving the table: the page to choose from as a dialog.
 * @param {URL} url
 * @param {HTMLElement} opener
 * @param {(page: Page, opener: HTMLElement) => void} chosen
 */
export async function choose(url, opener, chosen) {
  const dialog = document.createElement("dialog");
  dialog.className = "picking";
  dialog.setAttribute("aria-labelledby", "pick-title");
  dialog.addEventListener("close", () => dialog.remove());
  /** @type {AbortController | null} */
  let asking = null;

  /** @param {URL} address */
  async function ask(address) {
    asking?.abort();
    const mine = (asking = new AbortController());
    try {
      const page = await fetched(address, mine.signal);
      const picker = page.document.querySelector("sf-picker");
      if (picker) show(picker);
      else {
        dialog.close();
        chosen(page, opener);
      }
    } catch {
      if (!mine.signal.aborted) location.assign(address);
    }
  }

  /** @param {Element} picker */
  function show(picker) {
    const [again, typed] = [finderOf(document.activeElement), document.activeElement];
    const scrolled = dialog.querySelector(".tree")?.scrollTop ?? 0;
    dialog.replaceChildren(picker);
    if (!dialog.isConnected) {
      document.body.append(dialog);
      dialog.showModal();
    }
    const tree = dialog.querySelector(".tree");
    if (tree) tree.scrollTop = scrolled;
    const problem = /** @type {HTMLElement | null} */ (dialog.querySelector("#pick-problem"));
    const field = /** @type {HTMLInputElement | null} */ (dialog.querySelector("#pick-find"));
    (problem ?? again(dialog) ?? field)?.focus();
    if (typed instanceof HTMLInputElement && typed.name === "find" && field) {
      field.value = typed.value;
      field.setSelectionRange(typed.value.length, typed.value.length);
    }
    say(dialog.querySelector("#pick-found")?.textContent || dialog.querySelector("#pick-chosen")?.textContent || "");
  }

  dialog.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement)) return;
    event.preventDefault();
    ask(addressOf(event.target, event.submitter));
  });
  dialog.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a.back") : null;
    if (event.target === dialog) dialog.close();
    if (!(link instanceof HTMLAnchorElement) || !isPlain(event, link)) return;
    event.preventDefault();
    dialog.close();
  });
  await ask(url);
}

customElements.define("sf-picker", Picker);
