// <sf-own>: a reader's own numbers from a file, put into the field that the page has for them.

const NUMBER = /^\s*[-−+]?[\d.]+(e[-+]?\d+)?\s*$/i;
const LONGEST = 20000;

class Own extends HTMLElement {
  connectedCallback() {
    const field = this.querySelector("textarea");
    if (!field || this.querySelector("input")) return;
    const label = document.createElement("label");
    const file = Object.assign(document.createElement("input"), { type: "file", accept: ".csv,.txt,.tsv,text/csv", id: "f-own-file" });
    label.append(this.dataset.file ?? "", " ", file);
    field.after(label);
    file.addEventListener("change", () => this.#taken(file, field));
  }

  /**
   * @param {HTMLInputElement} file
   * @param {HTMLTextAreaElement} field
   */
  async #taken(file, field) {
    const chosen = file.files?.[0];
    if (!chosen) return;
    const text = named(await chosen.text(), chosen.name);
    file.setCustomValidity(encodeURIComponent(text).length > LONGEST ? this.dataset.long ?? "" : "");
    if (!file.reportValidity()) return;
    field.value = text;
    field.form?.requestSubmit();
  }
}

/**
 * A file without a heading is called what the file is called.
 * @param {string} text
 * @param {string} name
 */
function named(text, name) {
  const plain = text.replace(/^\uFEFF/, "");
  const parting = [",", ";", "\t"].find((one) => plain.split("\n", 1)[0].includes(one)) ?? ",";
  const second = plain.split(/\r?\n/, 1)[0].split(parting)[1] ?? "";
  return NUMBER.test(second) ? `code${parting}${name.replace(/\.[^.]*$/, "").replaceAll(parting, " ")}\n${plain}` : plain;
}

customElements.define("sf-own", Own);
