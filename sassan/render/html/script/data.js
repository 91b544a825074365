// The data of the page: what the list needs at once, the details of a function when it is opened.

const PAGE = JSON.parse(byId("data").textContent);
const FUNCTIONS = PAGE.functions.map((one, at) => ({ ...one, at }));
const unpacked = new Map();

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function details(at) {
  if (!unpacked.has(at)) {
    if (unpacked.size > 24) unpacked.delete(unpacked.keys().next().value);
    unpacked.set(at, await unpack(byId(`detail-${at}`).textContent));
  }
  return unpacked.get(at);
}

const sourceTexts = new Map();

// The lines of a source of a function.
async function sourceLines(one, name) {
  const at = PAGE.sources[`${one.file}:${name}`];
  if (!sourceTexts.has(at)) sourceTexts.set(at, await unpack(byId(`source-${at}`).textContent));
  return sourceTexts.get(at);
}
