// The view: the overview, or one function. The fragment of the address selects it, so that it works with bookmarks and the history.

const state = { at: null, view: null, turn: 0 };
const only = FUNCTIONS.length === 1 && (PAGE.version !== null || !PAGE.refused.length);

// Data are unpacked while others go on: until the view of the last address stands, the page is busy.
async function show() {
  const [, at, block] = location.hash.match(/^#k(\d+)(?:\/(\w+))?$/) ?? [];
  const turn = ++state.turn;
  byId("main").setAttribute("aria-busy", "true");
  if (only || (at !== undefined && Number(at) < FUNCTIONS.length)) await showFunction(only ? 0 : Number(at), block);
  else showOverview();
  if (turn === state.turn) byId("main").setAttribute("aria-busy", "false");
}

function showOverview() {
  Object.assign(state, { at: null, view: null });
  byId("main").replaceChildren(...overview().filter(Boolean));
  markOpen(null);
  document.title = PAGE.title;
}

async function showFunction(at, block) {
  state.at = at;
  let one;
  try {
    one = await details(at);
  } catch (error) {
    return byId("main").replaceChildren(panel("Cannot be shown", "gaps", el("p", {}, `This browser cannot unpack the data of the function: ${error.message}`)));
  }
  const view = await kernelView(one);
  if (state.at !== at) return;
  byId("main").replaceChildren(...view.filter(Boolean));
  markOpen(at);
  document.title = `${one.head} \u00b7 ${PAGE.title}`;
  state.view.start();
  state.view.code?.begin();
  scrollTo(0, 0);
  if (block && one.graph.blocks.some((other) => other.id === block)) state.view.select(block, true);
}

function open(at) {
  if (location.hash === `#k${at}`) return;
  location.hash = `k${at}`;
}

function goHome() {
  location.hash = "";
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("sassan-theme", root.dataset.theme);
  } catch {
    // A browser that keeps nothing for this page: the choice holds until it is closed.
  }
}

function keptTheme() {
  try {
    const kept = localStorage.getItem("sassan-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch {
    // As above.
  }
}

function start() {
  keptTheme();
  document.body.classList.toggle("single", only);
  byId("tool").textContent = toolName();
  byId("home").addEventListener("click", goHome);
  byId("theme").addEventListener("click", turnTheme);
  byId("print").addEventListener("click", () => print());
  byId("help").addEventListener("click", showKeys);
  addEventListener("keydown", pageKey);
  addEventListener("hashchange", show);
  startList();
  refreshList();
  startLive();
  show().then(resume);
}

start();
