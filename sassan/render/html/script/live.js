// A page of a local server: it asks for newer versions, and shows after a reload what it showed before.

const KEPT = "sassan-view";

function startLive() {
  if (PAGE.version === null) return;
  findAgain();
  const events = new EventSource("events");
  events.addEventListener("message", (event) => {
    const { version, busy } = JSON.parse(event.data);
    tell(busy ? "analyzing \u2026" : "");
    if (!busy && version !== PAGE.version) reload();
  });
  events.addEventListener("error", () => tell("the server has ended"));
}

function tell(text) {
  byId("tool").textContent = text || toolName();
  byId("tool").classList.toggle("note", Boolean(text));
}

const toolName = () => `sassan ${PAGE.tool.tool.version}`;

function reload() {
  const one = FUNCTIONS[state.at];
  const code = state.view?.code;
  const panes = code ? Object.fromEntries(code.panes.map((pane) => [pane.name, pane.list.element.scrollTop])) : {};
  const kept = { name: one?.name, file: one?.file, block: location.hash.split("/")[1], place: code?.chosen, panes, shown: panesShown, y: scrollY };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.reload();
}

const kept = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "null");

// Functions may have another number now.
function findAgain() {
  const before = kept();
  if (!before) return;
  Object.assign(panesShown, before.shown);
  const one = FUNCTIONS.find((other) => other.name === before.name && other.file === before.file);
  history.replaceState(null, "", one ? `#k${one.at}` : location.pathname);
}

function resume() {
  const before = PAGE.version === null ? null : kept();
  if (!before) return;
  sessionStorage.removeItem(KEPT);
  const { code } = state.view ?? {};
  if (code) {
    for (const pane of code.panes) pane.list.element.scrollTop = before.panes[pane.name] ?? 0;
    if (before.place) for (const pane of code.panes) choosePlace(code, before.place, pane);
  }
  scrollTo(0, before.y);
}
