// <sf-copy data-copy="Copy" data-copied="Copied">: a button beside a snippet, there only where a script can copy.
import { say } from "./page.js";

const SHOWN_FOR = 2500;

class Copy extends HTMLElement {
  connectedCallback() {
    if (this.querySelector(":scope > button.copy")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy quiet";
    button.textContent = this.dataset.copy ?? "Copy";
    button.addEventListener("click", () => this.#copied(button));
    this.append(button);
  }

  /** @returns {HTMLElement | null} */
  get #snippet() {
    return this.querySelector("pre, code, .cited");
  }

  /** @param {HTMLButtonElement} button */
  async #copied(button) {
    const snippet = this.#snippet;
    if (!snippet || !(await copied(snippet))) return;
    const done = this.dataset.copied ?? "Copied";
    button.textContent = done;
    say(done);
    setTimeout(() => { button.textContent = this.dataset.copy ?? "Copy"; }, SHOWN_FOR);
  }
}

/**
 * Copy the text of an element; a page without TLS may not write to the clipboard, so there it is selected and copied.
 * @param {HTMLElement} element
 */
async function copied(element) {
  const text = (element.textContent ?? "").trim();
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return document.execCommand("copy");
  }
}

customElements.define("sf-copy", Copy);
