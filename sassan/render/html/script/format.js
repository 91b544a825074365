// How values are written.

const NONE = "\u2013";

const number = (value) => (value === null || value === undefined ? NONE : value.toLocaleString("en-US"));
const percent = (share) => (share === null || share === undefined ? NONE : share > 0 && share < 0.01 ? "<1\u00a0%" : `${Math.round(100 * share)}\u00a0%`);
const hundredths = (value) => value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const bound = (us) => (us === null ? NONE : hundredths(Math.ceil(us * 100) / 100)); // never below it
const expected = (us) => (us === null ? NONE : hundredths(us));
const many = (count, one, more = `${one}s`) => `${number(count)} ${count === 1 ? one : more}`;
const placeOf = (source) => (source ? source.split(/[\\/]/).pop() : ""); // without folders
const address = (text) => el("code", {}, text);

// A kernel string with its letters in the colours of their units; a long one is cut and can be opened.
const LETTERS_SHOWN = 400;
function kernelString(text) {
  if (text === null) return el("span", { class: "muted" }, "unknown");
  const shown = el("code", { class: "string" }, letters(text.slice(0, LETTERS_SHOWN)));
  if (text.length <= LETTERS_SHOWN) return shown;
  const more = button(`\u2026 ${number(text.length - LETTERS_SHOWN)} more characters`, () => {
    shown.replaceChildren(...letters(text));
    more.remove();
  });
  return el("span", {}, shown, " ", more);
}

const letters = (text) => text.split(/(?=[LCSDT(])/).map((part) => (/^[LCSDT]/.test(part) ? el("span", { class: `letter letter-${part[0]}` }, part) : part));

const unit = (letter) => el("span", { class: letter ? `chip unit-${letter}` : "chip" }, letter ?? "?");

// A function where several are spoken of: with the end of its file where others have its name.
const named = (one) => (one.where ? `${one.head} (${one.where})` : one.head);
const where = (one) => (one.where ? el("span", { class: "where" }, one.where) : "");

function tile(name, value, note = "", kind = "") {
  return el("div", { class: `tile ${kind}` }, el("dt", {}, name), el("dd", {}, el("strong", {}, value), note ? el("small", {}, note) : ""));
}
