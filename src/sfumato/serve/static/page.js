// A page fetched in the background, what had the focus before it was shown, and what is said of it aloud.

/** @typedef {{ document: Document, url: URL, ok: boolean }} Page */

/**
 * Fetch an address of this site as a document.
 * @param {URL} url
 * @param {AbortSignal} signal
 * @returns {Promise<Page>}
 */
export async function fetched(url, signal) {
  const reply = await fetch(url, { signal, credentials: "same-origin", headers: { Accept: "text/html" } });
  const type = reply.headers.get("Content-Type") ?? "";
  if (!type.startsWith("text/html")) throw new Error(`${url.pathname} answered with ${type}`);
  const parsed = new DOMParser().parseFromString(await reply.text(), "text/html");
  return { document: parsed, url: new URL(reply.url), ok: reply.ok };
}

/**
 * The address that a form would go to; empty fields are left out, as they say nothing.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 * @returns {URL}
 */
export function addressOf(form, submitter) {
  const url = new URL(submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? "", location.href);
  const named = submitter?.getAttribute("name") ? submitter : null;
  const fields = /** @type {[string, string][]} */ ([...new FormData(form, named).entries()]);
  url.search = new URLSearchParams(fields.filter(([name, value]) => value !== "" && stands(name, fields))).toString();
  return url;
}

/**
 * Whether a field is of the table: codes of a variable that is laid out no more are left out, as they choose nothing.
 * @param {string} name
 * @param {[string, string][]} fields
 */
function stands(name, fields) {
  const variable = /^(?:valueCodes|group|drawn|codelist)\[(.*)\]$/.exec(name)?.[1];
  const laid = fields.filter(([field]) => ["rows", "cols", "wrap"].includes(field)).map(([, value]) => value);
  return variable === undefined || !laid.length || laid.includes(variable);
}

/**
 * Whether a click on a link is for us: a plain click that stays on this site and in this window.
 * @param {MouseEvent} event
 * @param {HTMLAnchorElement} link
 */
export function isPlain(event, link) {
  const changed = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
  return !changed && !event.defaultPrevented && !link.target && !link.hasAttribute("download") && link.origin === location.origin;
}

/**
 * How to find an element again after the page around it was replaced.
 * @param {Element | null} element
 * @returns {(root: ParentNode) => HTMLElement | null}
 */
export function finderOf(element) {
  if (!(element instanceof HTMLElement)) return () => null;
  if (element.id) return (root) => root.querySelector(`#${CSS.escape(element.id)}`);
  const name = element.getAttribute("name");
  if (name) {
    const value = element.getAttribute("value") ?? "";
    const wanted = `${element.localName}[name="${CSS.escape(name)}"]`;
    return (root) => [...root.querySelectorAll(wanted)].map(asHtml).find((one) => (one?.getAttribute("value") ?? "") === value) ?? null;
  }
  const said = textOf(element);
  return (root) => [...root.querySelectorAll(element.localName)].map(asHtml).find((one) => one !== null && textOf(one) === said) ?? null;
}

/** @param {Element} element */
function asHtml(element) {
  return element instanceof HTMLElement ? element : null;
}

/** @param {HTMLElement} element */
function textOf(element) {
  return element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
}

/**
 * Say something to whoever listens to the page rather than sees it.
 * @param {string} words
 */
export function say(words) {
  const said = document.getElementById("said");
  if (!said) return;
  said.textContent = "";
  // A region that is emptied and filled in one breath is not read out again.
  setTimeout(() => { said.textContent = words; }, 50);
}
