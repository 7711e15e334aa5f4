"use strict";
// The page of `dao browse`. What is shown is in the address: #rows?entity=book&where=…; its options are those of the request api/rows.
// Stored text becomes text nodes only, never HTML.

const $ = id => document.getElementById(id);
const pageSizes = [50, 100, 200];
const listLength = 10;

/** Makes an element. A child that is a string is text; one that is null or false is left out. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  fill(element, ...children);
  return element;
}

/** Replaces what is in an element. */
function fill(element, ...children) {
  element.replaceChildren(...children.filter(child => child !== null && child !== undefined && child !== false));
}

const number = count => count.toLocaleString("en");
const counted = (count, noun, nouns = noun + "s") => `${number(count)} ${count === 1 ? noun : nouns}`;
const size = bytes => bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

// Requests

/** An answer that is an error, in words. */
class Refusal extends Error {
  constructor(answer, status) {
    super(answer.error);
    Object.assign(this, { position: answer.position, status });
  }
}

/** Asks the server; null when nothing has changed. */
async function ask(path, options, signal, body) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) if (value !== null && value !== undefined) words.set(name, value);
  const deadline = AbortSignal.timeout(40000);
  const request = { cache: "no-store", signal: signal ? AbortSignal.any([signal, deadline]) : deadline };
  if (body) Object.assign(request, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const response = await fetch(`api/${path}?${words}`, request);
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({ error: `the answer cannot be read (${response.status})` }));
  if (!response.ok) throw new Refusal(answer, response.status);
  answer.tag = (response.headers.get("ETag") || "").replaceAll('"', "");
  return answer;
}

/** What an error says to people. */
function words(error) {
  if (error instanceof Refusal) return error.message;
  if (error.name === "TimeoutError") return "there is no answer after 40 seconds; try again, or choose another condition";
  if (error instanceof TypeError) return "'dao browse' does not answer any more; start it again, and open its new address";
  return String(error);
}

// The address

let database = { entities: [], canWrite: false, name: "" };
const entityNamed = name => database.entities.find(entity => entity.name === name);

/** The view that is shown: its name, its options, and what ends its requests. */
let view = { name: "", options: {}, abort: new AbortController() };

function address(name, options) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(options)) if (value) words.set(key, value);
  return `#${name}?${words}`;
}
const go = (name, options) => { location.hash = address(name, options); };
const rowAddress = (entity, key) => "#row?" + new URLSearchParams({ entity, key });

function readAddress() {
  const [name, words] = location.hash.slice(1).split(/\?(.*)/s);
  return { name: ["rows", "row", "related"].includes(name) ? name : "database", options: Object.fromEntries(new URLSearchParams(words || "")) };
}

// Showing

/** Shows the view of the address, and follows its changes as long as it is shown. */
async function open() {
  view.abort.abort();
  const shown = view = { ...readAddress(), abort: new AbortController() };
  const signal = shown.abort.signal;
  const busy = setTimeout(() => { $("busy").hidden = false; }, 150);
  let answer;
  try {
    answer = await ask(shown.name, shown.options, signal);
    // A migration, or another program, has changed what entities there are.
    if (answer.fields && isUnknown(answer)) await refresh();
    if (shown !== view) return;
    views[shown.name](shown, answer, false);
    live("on", "live");
  } catch (error) {
    if (shown !== view) return;
    fail(shown, error);
  } finally {
    clearTimeout(busy);
    if (shown === view) $("busy").hidden = true;
  }
  choose(shown.options.entity);
  if (shown === view) await follow(shown, answer);
}

function isUnknown(answer) {
  const entity = entityNamed(answer.entity);
  return !entity || answer.fields.some(name => !entity.fields.some(field => field.name === name));
}

/** Asks for the view again and again; the answer waits until it has changed. */
async function follow(shown, answer) {
  while (shown === view) {
    if (document.hidden) await new Promise(resolve => document.addEventListener("visibilitychange", resolve, { once: true }));
    try {
      // A condition with a mistake stays one.
      if (!answer) await sleep(2000);
      if (shown !== view || (!answer && shown.isMistaken)) return;
      const next = await ask(shown.name, { ...shown.options, known: answer ? answer.tag : null }, shown.abort.signal);
      if (shown !== view) return;
      if (next) {
        const isFirst = !answer;
        answer = next;
        views[shown.name](shown, next, !isFirst);
      }
      live("on", "live");
      refreshSoon();
      // A program that commits all the time does not keep the page busy.
      await sleep(250);
    } catch (error) {
      if (shown !== view || error.name === "AbortError") return;
      answer = null;
      fail(shown, error);
    }
  }
}

function live(state, text) {
  $("live").className = state;
  $("live").textContent = text;
}

/** Shows an error in the place of the view, and the filter that leads out of it. */
function fail(shown, error) {
  shown.isMistaken = error instanceof Refusal && error.status === 400;
  if (!shown.isMistaken) live("off", error instanceof Refusal ? "trying again" : "not connected");
  if (shown.name === "rows" && entityNamed(shown.options.entity)) {
    if (!shown.isFramed || shown.isMistaken) frameRows(shown);
  } else {
    shown.isFramed = false;
    fill($("main"), make("div", { id: "problem" }));
  }
  tell(error, shown.options.where || "");
}

/** Shows an error above the rows, with its position in the condition. */
function tell(error, condition = "") {
  const box = make("div", { class: "problem", role: "alert" });
  if (error.position !== undefined && condition) {
    const end = condition.slice(error.position).search(/[\s()]/);
    const stop = end > 0 ? error.position + end : Math.max(error.position + 1, end < 0 ? condition.length : 0);
    box.append(make("pre", {}, condition.slice(0, error.position), make("mark", {}, condition.slice(error.position, stop) || " "), condition.slice(stop)));
    const input = $("where");
    if (input) {
      input.setAttribute("aria-invalid", "true");
      input.focus();
      input.setSelectionRange(error.position, Math.min(stop, condition.length));
    }
  }
  box.append(words(error) + ".");
  fill($("problem"), box);
}

/** Reads the entities again, with their numbers of rows. */
async function refresh() {
  try {
    database = await ask("database", {});
  } catch { return; }
  $("name").textContent = database.name;
  $("facts").textContent = [database.engine, database.size, `version ${database.version}`, database.url].filter(Boolean).join(" · ");
  $("facts").title = database.url;
  $("mode").textContent = database.canWrite ? "writing" : "read-only";
  $("mode").classList.toggle("writes", database.canWrite);
  const word = $("entity-filter").value.toLowerCase();
  $("entity-filter").hidden = database.entities.length < 13;
  fill($("entities"), ...database.entities.filter(entity => entity.name.toLowerCase().includes(word)).map(entity =>
    make("li", {}, make("a", { href: address("rows", { entity: entity.name }), "data-entity": entity.name },
      make("span", { class: "name" }, entity.name), make("span", { class: "count" }, entity.rows === null ? "" : number(entity.rows))))));
  choose(view.options.entity);
  // What the database could not count in time, it may count the next time.
  countless = database.entities.some(entity => entity.rows === null) ? countless + 1 : 0;
  if (countless > 0 && countless < 5) refreshSoon();
}

let [nextRefresh, countless] = [null, 0];
function refreshSoon() {
  nextRefresh ??= setTimeout(() => { nextRefresh = null; refresh(); }, 1000);
}

/** Marks the entity of the view. */
function choose(name) {
  for (const link of $("entities").querySelectorAll("a")) {
    if (link.dataset.entity === name) {
      if (!link.hasAttribute("aria-current")) link.scrollIntoView({ block: "nearest", inline: "nearest" });
      link.setAttribute("aria-current", "page");
    } else link.removeAttribute("aria-current");
  }
  document.title = [name, database.name || "dao browse"].filter(Boolean).join(" · ");
}

// Views

const views = {
  database(shown, answer) {
    database = { ...answer };
    const table = make("table", { class: "rows" },
      make("thead", {}, make("tr", {}, ...["entity", "rows", "fields"].map(name => make("th", { class: name === "rows" && "number" }, make("span", {}, name))))),
      make("tbody", {}, ...answer.entities.map(entity => rowLine(address("rows", { entity: entity.name }), entity.name, [
        make("td", {}, make("a", { href: address("rows", { entity: entity.name }) }, entity.name)),
        make("td", { class: "number" }, entity.rows === null ? "–" : number(entity.rows)),
        make("td", { class: "dim" }, entity.fields.map(field => field.name).join(", ")),
      ]))));
    fill($("main"),
    make("div", { class: "title" }, make("h1", {}, answer.name), make("span", { class: "dim" }, counted(answer.entities.length, "entity", "entities"))),
      make("div", { id: "problem" }),
      answer.entities.length
        ? make("div", { id: "content" }, make("div", { class: "scroll" }, table))
        : make("div", { class: "empty" }, make("p", {}, "This database has no entities yet."), "Open a model of the application on it, and its rows appear here."));
  },

  rows(shown, answer, isChange) {
    if (!shown.isFramed) frameRows(shown);
    if (!isChange) fill($("problem"));
    fillTable(shown, answer, isChange);
    const ends = answer.rows.length === 0 && !shown.options.after;
    if (ends) {
      const { entity, where, search } = shown.options;
      fill($("content"), make("div", { class: "empty" },
        make("p", {}, search ? `No row of '${entity}' has '${search}'${where ? " and meets this condition" : ""}.`
          : where ? `No row of '${entity}' meets this condition.` : `'${entity}' has no rows yet. They appear here when they are stored.`),
        (where || search) && make("button", { type: "button", onclick: () => go("rows", { entity }) }, "Show all rows")));
    }
    countRows(shown);
  },

  related(shown, answer, isChange) {
    if (!shown.isFramed) {
      const { entity, key, field } = shown.options;
      shown.isFramed = true;
      fill($("main"),
    make("div", { class: "title" }, make("h1", {}, make("a", { href: address("rows", { entity }) }, entity), " › ",
          make("a", { class: "mono", href: rowAddress(entity, key) }, key), ` › ${field}`), make("span", { id: "count", class: "dim" })),
        make("div", { id: "problem" }), make("div", { id: "content" }), make("div", { id: "pager", class: "pager" }));
    }
    fill($("problem"));
    $("count").textContent = counted(answer.count, "row") + ` of '${answer.entity}', in the order of the list`;
    fillTable(shown, answer, isChange);
    if (answer.count === 0) fill($("content"), make("div", { class: "empty" }, "The list is empty."));
  },

  row(shown, answer, isChange) {
    const editor = $("main").querySelector(".editor, #erase .danger");
    if (isChange && editor) {
      // The change that is being saved is shown when it is.
      if (!shown.isSaving) tell(new Refusal({ error: "somebody has written this row meanwhile; cancel to see it" }));
      return;
    }
    showRow(shown, answer, isChange);
  },
};

/** Shows what stands around the rows of an entity. */
function frameRows(shown) {
  const { entity: name, where, order, search } = shown.options;
  const entity = entityNamed(name);
  shown.isFramed = true;
  const input = make("input", {
    id: "where", type: "text", placeholder: example(entity), "aria-label": "Condition", autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", enterkeyhint: "search", maxlength: "20000",
  });
  const words = entity.isSearchable && make("input", {
    id: "search", type: "search", placeholder: "search words", "aria-label": "Search", autocomplete: "off", enterkeyhint: "search", maxlength: "1000",
  });
  const focused = document.activeElement && [input, words].find(field => field && field.id === document.activeElement.id);
  input.value = where || "";
  if (words) words.value = search || "";
  const apply = event => {
    event.preventDefault();
    const text = words ? words.value.trim() : "";
    // What is found has an order of its own.
    go("rows", { entity: name, search: text, where: input.value.trim(), order: text ? null : order, limit: shown.options.limit });
    // The same condition again.
    if (readAddress().options.where === view.options.where && view.isMistaken) open();
  };
  fill($("main"),
    make("div", { class: "title" }, make("h1", {}, name), make("span", { id: "count", class: "dim" })),
    make("form", { class: "filter", role: "search", onsubmit: apply }, words, input,
      make("button", { class: "main", id: "apply" }, "Filter"),
      make("button", { type: "button", id: "clear", disabled: !where && !order && !search, onclick: () => go("rows", { entity: name }) }, "Clear"),
      !search && make("button", { type: "button", id: "explain", "aria-controls": "plan", onclick: () => explain(shown, input.value.trim()) }, "Explain")),
    make("div", { id: "problem" }), make("div", { id: "plan", class: "plan", hidden: true }),
    make("details", { id: "fields" }, make("summary", {}, `${counted(entity.fields.length, "field")}${entity.indexes.length ? ", " + counted(entity.indexes.length, "index", "indexes") : ""}`),
      make("ul", { class: "fields" }, ...entity.fields.map(field => make("li", {},
        make("button", { type: "button", title: "Write the name into the condition", onclick: () => insert(input, field.name) }, field.name),
        make("span", { class: "dim" }, describe(field)))), ...entity.indexes.map(index => make("li", { class: "dim" }, `index: ${index}`)))),
    make("div", { id: "content" }), make("div", { id: "pager", class: "pager" }));
  if (focused) focused.focus();
}

function describe(field) {
  const words = [field.target ? "→ " + (field.isList ? `[${field.target}]` : field.target) : field.type];
  if (field.isKey) words.push("key");
  else if (field.isUnique) words.push("unique");
  else if (field.isIndexed) words.push("indexed");
  return words.join(", ");
}

/** A condition on a field of the entity, as an example. */
function example(entity) {
  const text = entity.fields.find(field => field.kind === "string" && !field.isKey && !field.isList && !field.target);
  const amount = entity.fields.find(field => field.isNumber && !field.target && !field.isKey) || entity.fields.find(field => field.isNumber && !field.target);
  return [amount && `${amount.name} > 5`, text && `${text.name} CONTAINS[c] 'a'`].filter(Boolean).join(" AND ") || "a condition";
}

function insert(input, text) {
  const [start, end] = [input.selectionStart, input.selectionEnd];
  const space = start > 0 && !/[\s(]$/.test(input.value.slice(0, start)) ? " " : "";
  input.setRangeText(space + text + " ", start, end, "end");
  input.focus();
}

async function explain(shown, where) {
  const panel = $("plan");
  if (!panel.hidden && panel.dataset.where === where) { panel.hidden = true; return; }
  try {
    const plan = await ask("explain", { entity: shown.options.entity, where, order: shown.options.order }, shown.abort.signal);
    fill($("problem"));
    fill(panel, make("strong", {}, `Rows are found ${plan.plan}.`),
      plan.rows !== null && make("span", { class: "dim" }, ` The engine expects ${plan.rows >= 1000 ? "at least " : ""}${counted(plan.rows, "row")}.`),
      plan.details.length > 0 && make("pre", {}, plan.details.join("\n")));
    panel.dataset.where = where;
    panel.hidden = false;
  } catch (error) {
    if (shown === view) tell(error, where);
  }
}

async function countRows(shown) {
  const { entity, where, search } = shown.options;
  shown.mustCount = true;
  if (shown.isCounting) return;
  shown.isCounting = true;
  while (shown.mustCount && shown === view) {
    shown.mustCount = false;
    const start = Date.now();
    let text = "";
    try {
      const { count } = await ask("count", { entity, where, search }, shown.abort.signal);
      const all = entityNamed(entity)?.rows;
      text = counted(count, "row") + ((where || search) && typeof all === "number" ? ` of ${number(all)}` : "");
    } catch { /* The rows are there without their number. */ }
    if (shown === view) $("count").textContent = text;
    // A count that looks at every row does not keep the database busy.
    await sleep(5 * (Date.now() - start));
  }
  shown.isCounting = false;
}

/** Shows rows as a table, and the way to other pages. */
function fillTable(shown, answer, isChange) {
  const box = $("content").querySelector(".scroll");
  const [left, top] = box ? [box.scrollLeft, box.scrollTop] : [0, 0];
  const focused = document.activeElement && document.activeElement.closest("#content tr[data-key]");
  const focusedKey = focused && focused.dataset.key;
  const table = tableOf(answer, shown.name === "rows" && !shown.options.search ? shown.options.order || "" : null, isChange ? shown.last : null, order =>
    go("rows", { ...shown.options, order, after: null, trail: null }));
  shown.last = answer;
  fill($("content"), make("div", { class: "scroll" }, table));
  $("content").classList.toggle("few", answer.rows.length < 6);
  if (isChange) Object.assign($("content").firstChild, { scrollLeft: left, scrollTop: top });
  if (focusedKey !== null) [...table.tBodies[0].rows].find(row => row.dataset.key === focusedKey)?.focus();

  const { after, trail = "", limit } = shown.options;
  const before = trail ? trail.split(".") : [];
  const count = Number(limit) || pageSizes[0];
  const move = (after, trail) => go(shown.name, { ...shown.options, after: after === "0" ? null : after, trail: trail.join(".") });
  const first = before.length * count + 1;
  fill($("pager"),
    make("span", { class: "where" }, answer.rows.length ? `rows ${number(first)} to ${number(first + answer.rows.length - 1)}` : after ? "no more rows" : ""),
    make("button", { id: "first", type: "button", disabled: !after, onclick: () => move(null, []) }, "First"),
    make("button", { id: "previous", type: "button", disabled: !before.length, onclick: () => move(before.at(-1), before.slice(0, -1)) }, "Previous"),
    make("button", { id: "next", type: "button", disabled: !answer.next, onclick: () => move(answer.next, [...before, after || "0"]) }, "Next"),
    make("select", { id: "limit", "aria-label": "Rows on a page", onchange: event => go(shown.name, { ...shown.options, after: null, trail: null, limit: event.target.value }) },
      ...pageSizes.map(size => make("option", { value: size, selected: size === count }, `${size} rows`))));
}

/** A table of rows. Rows and cells that differ from the last answer are marked. */
function tableOf(answer, order, last, sort) {
  const entity = entityNamed(answer.entity);
  const fields = answer.fields.map(name => entity?.fields.find(field => field.name === name) || { name });
  const keyIndex = fields.findIndex(field => field.isKey);
  const positions = [keyIndex, ...fields.keys()].filter((position, index) => position >= 0 && (index === 0 || position !== keyIndex));
  const terms = (order || "").split(",").filter(Boolean);
  const known = last && new Map(last.rows.map(row => [row.key, row.cells]));
  const head = positions.map(position => {
    const field = fields[position];
    if (order === null || !field.isSortable) return make("th", { class: field.isNumber && "number" }, make("span", {}, field.name));
    const place = terms.findIndex(term => term.replace(/^-/, "") === field.name);
    const state = place < 0 ? "none" : terms[place].startsWith("-") ? "descending" : "ascending";
    const mark = { none: "", ascending: " ↑", descending: " ↓" }[state] + (place >= 0 && terms.length > 1 ? place + 1 : "");
    const click = event => {
      const next = { none: field.name, ascending: "-" + field.name, descending: null }[state];
      const others = event.shiftKey ? terms : terms.slice(place, place + 1).filter(() => place >= 0);
      const changed = place >= 0 ? others.map(term => term === terms[place] ? next : term) : [...others, next];
      sort(changed.filter(Boolean).join(","));
    };
    return make("th", { class: field.isNumber && "number", "aria-sort": state },
      make("button", { type: "button", title: describe(field), onclick: click }, field.name + mark));
  });
  const body = answer.rows.map(row => {
    const before = known && known.get(row.key);
    const cells = positions.map(position => {
      const [field, value] = [fields[position], row.cells[position]];
      const isNew = before && before[position] !== value;
      const classes = [field.isNumber && "number", isNew && "new"].filter(Boolean).join(" ") || null;
      if (value === null) return make("td", { class: classes }, make("span", { class: "null" }, "nil"));
      if (field.isKey) return make("td", { class: classes }, make("a", { href: rowAddress(answer.entity, row.key) }, value || "''"));
      if (field.target) return make("td", { class: classes }, make("a", { href: rowAddress(field.target, value) }, value || "''"));
      return make("td", { class: classes, title: value.length > 40 && value }, value);
    });
    return rowLine(rowAddress(answer.entity, row.key), row.key, cells, known && !before);
  });
  return make("table", { class: "rows" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
}

/** A line that can be clicked and focused. */
function rowLine(target, key, cells, isNew) {
  const follow = event => {
    if (event.target.closest("a") || String(getSelection())) return;
    location.hash = target;
  };
  return make("tr", {
    tabindex: "-1", "data-key": key, class: isNew && "new", onclick: follow,
    onkeydown: event => { if (event.key === "Enter" && event.target.tagName === "TR") location.hash = target; },
  }, ...cells);
}

// A row

function showRow(shown, answer, isChange) {
  const entity = entityNamed(answer.entity) || { fields: [] };
  const fields = answer.fields.map(name => entity.fields.find(field => field.name === name) || { name });
  const scroll = $("main").scrollTop;
  const options = { entity: answer.entity, key: answer.key };
  const before = isChange && shown.last;
  shown.last = answer;
  const lines = fields.map((field, index) => {
    if (field.isList) return null;
    const value = answer.values[index];
    const isNew = before && JSON.stringify(before.values[index]) !== JSON.stringify(value);
    const cell = make("td", { class: isNew && "new" }, ...valueOf(field, value, options));
    const canEdit = database.canWrite && !field.isKey && (value === null ? field.kind !== "data" : value.edit !== null && value.edit !== undefined);
    return make("tr", { "data-field": field.name },
      make("th", { scope: "row" }, field.name, make("small", {}, describe(field))), cell,
      database.canWrite && make("td", { class: "act" }, canEdit && make("button", {
        type: "button", "aria-label": `Edit ${field.name}`, onclick: () => edit(shown, answer, field, value, cell),
      }, "Edit")));
  });
  const lists = fields.filter(field => field.isList).map(field => make("section", { "data-list": field.name },
    make("h2", {}, field.name, make("span", { class: "dim" }, ` → [${field.target}]`)), make("div", { class: "dim" }, "…")));
  const referrers = make("ul", { class: "links" }, ...answer.referrers.map(link => make("li", {},
    make("a", { href: address("rows", { entity: link.entity, where: link.where }) }, `${link.entity} by ${link.field}`),
    make("span", { class: "dim count" }))));
  fill($("main"),
    make("div", { class: "title" }, make("h1", {}, make("a", { href: address("rows", { entity: answer.entity }) }, answer.entity), " › ", make("span", { class: "mono" }, answer.key || "''")),
      database.canWrite && make("span", { id: "erase" }, make("button", { type: "button", onclick: () => confirmErasure(shown, answer) }, "Erase"))),
    make("div", { id: "problem" }),
    make("div", { class: "scroll" }, make("table", { class: "detail" }, make("tbody", {}, ...lines.filter(Boolean)))),
    ...lists,
    answer.referrers.length > 0 && make("section", { id: "referrers" }, make("h2", {}, "Rows that refer to it"), referrers));
  if (isChange) $("main").scrollTop = scroll;
  loadLists(shown, options, lists);
  countReferrers(shown, answer.referrers, referrers);
}

/** What is shown of a value. */
function valueOf(field, value, row) {
  if (value === null) return [make("span", { class: "null" }, "nil")];
  const file = "api/value?" + new URLSearchParams({ ...row, field: field.name });
  const download = text => make("a", { href: file, download: `${row.entity}-${field.name}` }, text);
  if (value.bytes !== undefined) {
    return [value.isPicture && make("img", { src: file, alt: `The picture in ${field.name}` }),
      value.text && !value.isPicture && make("pre", {}, value.text),
      make("span", { class: "dim" }, size(value.bytes) + (value.bytes ? " · " : "")), value.bytes > 0 && download("Download")].filter(Boolean);
  }
  if (field.target) {
    const name = make("span", { class: "dim" });
    nameOf(field.target, value.text).then(text => { name.textContent = text; });
    return [make("a", { class: "mono", href: rowAddress(field.target, value.text) }, value.text || "''"), name];
  }
  const parts = [make("pre", {}, value.text)];
  if (value.text === "") parts.splice(0, 1, make("span", { class: "null" }, "empty text"));
  if (value.length !== null) parts.push(make("span", { class: "dim" }, `the beginning of ${size(value.length)} · `), download("Download all"));
  return parts;
}

/** What tells people which row a key belongs to: the first text of the row. */
async function nameOf(entity, key) {
  try {
    const row = await ask("row", { entity, key }, view.abort.signal);
    const place = row.fields.findIndex(name => entityNamed(entity)?.fields.some(field => field.name === name && field.kind === "string" && !field.isKey && !field.target));
    return place < 0 ? "" : ` ${row.values[place]?.text.slice(0, 80) ?? ""}`;
  } catch (error) {
    return error instanceof Refusal ? ` ${error.message}` : "";
  }
}

async function loadLists(shown, options, sections) {
  for (const section of sections) {
    const field = section.dataset.list;
    try {
      const answer = await ask("related", { ...options, field, limit: listLength }, shown.abort.signal);
      if (shown !== view) return;
      const place = address("related", { ...options, field });
      section.lastChild.replaceWith(answer.count === 0
        ? make("div", { class: "dim" }, "The list is empty.")
        : make("div", {}, make("div", { class: "scroll" }, tableOf(answer, null, null, null)),
          make("a", { href: place }, answer.count > listLength ? `Show all ${number(answer.count)}` : "Open the list")));
    } catch (error) {
      if (shown !== view) return;
      section.lastChild.replaceWith(make("div", { class: "problem" }, words(error) + "."));
    }
  }
}

async function countReferrers(shown, links, list) {
  for (const [index, link] of links.entries()) {
    try {
      const { count } = await ask("count", { entity: link.entity, where: link.where }, shown.abort.signal);
      list.children[index].lastChild.textContent = ` ${counted(count, "row")}`;
    } catch (error) {
      if (shown !== view) return;
      list.children[index].lastChild.textContent = ` ${words(error)}`;
    }
  }
}

/** Asks whether a row is to be erased, in the place of the button. */
function confirmErasure(shown, answer) {
  const erase = async () => {
    shown.isSaving = true;
    try {
      await ask("erase", {}, shown.abort.signal, { entity: answer.entity, key: answer.key, version: answer.version });
      if (shown === view) go("rows", { entity: answer.entity });
    } catch (error) {
      if (shown === view) tell(error);
    }
    shown.isSaving = false;
  };
  const keep = make("button", { type: "button", class: "cancel", onclick: () => open() }, "Keep it");
  fill($("erase"), make("span", {}, "Erase this row for good, with the rows that cascade? "),
    make("button", { type: "button", class: "danger", onclick: erase }, "Erase it"), " ", keep);
  keep.focus();
}

/** Puts an editor into the place of a value. */
function edit(shown, answer, field, value, cell) {
  $("main").querySelector(".editor .cancel")?.click();
  const before = [...cell.childNodes];
  const text = make("textarea", { "aria-label": field.name, rows: value && value.edit.includes("\n") ? 8 : 2, spellcheck: "false" });
  text.value = value ? value.edit : "";
  const isNil = make("input", { type: "checkbox", onchange: () => { text.disabled = isNil.checked; } });
  isNil.checked = text.disabled = value === null && field.isOptional;
  const close = () => fill(cell, ...before);
  const save = async event => {
    event.preventDefault();
    shown.isSaving = true;
    try {
      await ask("set", {}, shown.abort.signal, {
        entity: answer.entity, key: answer.key, field: field.name, version: answer.version, value: isNil.checked ? null : text.value,
      });
      if (shown === view) open();
    } catch (error) {
      if (shown === view) tell(error);
    }
    shown.isSaving = false;
  };
  const cancel = () => { close(); if (shown === view) open(); };
  const form = make("form", { class: "editor", onsubmit: save, onkeydown: event => {
    if (event.key === "Escape") cancel();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
  } }, text, make("div", {}, make("button", { class: "main save" }, "Save"), make("button", { type: "button", class: "cancel", onclick: cancel }, "Cancel"),
    field.isOptional && make("label", {}, isNil, " nil"), make("span", { class: "dim" }, field.target ? `the key of a row of '${field.target}'` : field.kind)));
  fill(cell, form);
  text.focus();
}

// Keys

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const isTyping = event.target.closest("input, textarea, select");
  if (isTyping) {
    if (event.key === "Escape" && event.target.id === "where") event.target.blur();
    return;
  }
  const rows = [...document.querySelectorAll("#main table.rows tbody tr")];
  const step = distance => {
    const place = rows.indexOf(document.activeElement.closest("tr"));
    rows[Math.max(0, Math.min(rows.length - 1, place < 0 ? (distance > 0 ? 0 : rows.length - 1) : place + distance))]?.focus();
  };
  const actions = {
    "/": () => $("where")?.focus(), "?": () => $("help").showModal(), e: () => $("explain")?.click(),
    n: () => $("next")?.click(), p: () => $("previous")?.click(),
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    u: () => {
      const { entity, key } = view.options;
      if (view.name === "related") go("row", { entity, key });
      else if (view.name === "row") go("rows", { entity });
      else location.hash = "";
    },
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});
$("help-button").addEventListener("click", () => $("help").showModal());
$("entity-filter").addEventListener("input", () => refresh());
addEventListener("hashchange", open);
refresh().then(open);
