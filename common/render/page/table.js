// table.js - the functions beside the picture, sorted; only rows in sight are in the document.

const TABLE_ROW = 27;

const PROFILE_COLUMNS = [
    {key: "self", name: "Self", title: "Own share of N"},
    {key: "total", name: "Total", title: "Share of N with all that it calls; recursion counts once"},
    {key: "error", name: "Error", title: "The true self share may be larger by this much, and no more"},
    {key: "name", name: "Function", title: "Function"},
];
function diffColumns(app) {
    const [before, after] = sideWords(app), how = `${after} less ${before.toLowerCase()}`;
    return [
        {key: "change", name: "Change", title: `Self weight: ${how}`},
        {key: "totalChange", name: "Total", title: `With all that it calls: ${how}`},
        {key: "self", name: after, title: "Self weight"},
        {key: "name", name: "Function", title: "Function"},
    ];
}

// stale: its rows are those of another profile, or there are none yet
const table = {sort: "", down: true, rows: [], shown: [], at: 0, stale: false};

// Where a change is within its error it counts as none.
function sortValue(row, key) {
    if (key === "change") return row.change.beyond ? Math.abs(row.change.change) : 0;
    if (key === "totalChange") return row.totalChange.beyond ? Math.abs(row.totalChange.change) : 0;
    return row[key];
}

function compareRows(a, b) {
    const way = table.down ? -1 : 1;
    if (table.sort === "name") {
        return way * (a.function.name < b.function.name ? -1 : a.function.name > b.function.name ? 1 : 0);
    }
    return way * (sortValue(a, table.sort) - sortValue(b, table.sort)) || b.self - a.self ||
        b.total - a.total || a.function.id - b.function.id;
}

function makeTable(app) {
    table.stale = true;
    if (!app.profile.isOverview) afterPaint(() => findRows(app));
}

// Before anybody does anything with them.
function findRows(app) {
    if (!table.stale || app.profile.isOverview) return;
    const {profile} = app, kind = profile.isDiff ? "diff" : "profile", kept = keptOf(profile, app.process);
    table.stale = false;
    table.columns = profile.isDiff ? diffColumns(app) : PROFILE_COLUMNS;
    if (byId("table").dataset.kind !== kind) {
        byId("table").dataset.kind = kind;
        table.sort = table.columns[0].key;
        table.down = true;
    }
    table.rows = kept.rows = kept.rows || functionRows(profile, app.process);
    byId("table-head").replaceChildren(...table.columns.map((column) => headCell(app, column)));
    sortTable(app);
}

function headCell(app, column) {
    const cell = element("button", column.name, column.key === "name" ? "name" : "");
    cell.type = "button";
    cell.title = column.title;
    cell.setAttribute("role", "columnheader");
    cell.dataset.key = column.key;
    cell.addEventListener("click", () => {
        findRows(app);
        table.down = table.sort === column.key ? !table.down : column.key !== "name";
        table.sort = column.key;
        sortTable(app);
    });
    return cell;
}

function sortTable(app) {
    for (const cell of byId("table-head").children) {
        const sorted = cell.dataset.key === table.sort;
        cell.setAttribute("aria-sort", !sorted ? "none" : table.down ? "descending" : "ascending");
    }
    table.rows.sort(compareRows);
    filterTable(app);
}

// A search shows what it means here, too.
function filterTable(app) {
    if (table.stale) return;
    table.shown = app.match ? table.rows.filter((row) => app.match.owners.has(row.function.id)) : table.rows;
    const chosen = table.shown.findIndex((row) => row.function.id === app.chosen);
    table.at = Math.max(0, chosen);
    byId("table-rows").style.height = `${table.shown.length * TABLE_ROW}px`;
    byId("table").setAttribute("aria-rowcount", String(table.shown.length));
    drawTable(app);
}

function cellsOf(app, row) {
    const {profile} = app, share = (weight) => shareText(weight / (app.total || 1));
    if (profile.isDiff) {
        const change = (c) => signed(weightText(profile.unit, c.change), c.change);
        return [[change(row.change), row.change.beyond ? (row.change.change > 0 ? "grew" : "shrank") : "calm"],
                [change(row.totalChange), row.totalChange.beyond ? (row.totalChange.change > 0 ? "grew" : "shrank") : "calm"],
                [weightText(profile.unit, row.self), ""]];
    }
    return [[share(row.self), row.self > 0 ? "" : "calm"], [share(row.total), ""],
            [row.error === 0 ? "0" : row.error < 1e-5 * app.total ? "< 0.001 %" : "+" + share(row.error), "calm"]];
}

function rowTitle(app, row) {
    const {profile} = app, unit = profile.unit, module = profile.modules[row.function.module];
    const weights = profile.isDiff ? "" : `\nself ${weightText(unit, row.self)} (` +
        `${boundsText(unit, row.self, Math.min(app.total, row.self + row.error))}), total ${weightText(unit, row.total)}`;
    return `${row.function.name}${module ? `\n${module}` : ""}${weights}`;
}

function tableRow(app, row, index) {
    const line = element("div", undefined, "row"), {profile} = app;
    line.setAttribute("role", "row");
    line.setAttribute("aria-selected", String(row.function.id === app.chosen));
    line.style.top = `${index * TABLE_ROW}px`;
    line.dataset.index = String(index);
    line.title = rowTitle(app, row);
    for (const [text, className] of cellsOf(app, row)) line.append(element("span", text, className));
    const name = element("span", undefined, "name"), swatch = element("i");
    swatch.style.background = profile.isDiff ? changeColor(row.change)
        : functionColor(profile, row.function.id);
    name.append(swatch, document.createTextNode(row.function.name.slice(0, 300)));
    line.append(name);
    if (!profile.isDiff) {
        const bar = element("div", undefined, "meter");
        bar.style.width = `${Math.max(0, 100 * row.self / (app.total || 1))}%`;
        line.prepend(bar);
    }
    return line;
}

function drawTable(app) {
    if (table.stale) return;
    const body = byId("table-body"), from = Math.max(0, Math.floor(body.scrollTop / TABLE_ROW) - 4);
    const to = Math.min(table.shown.length, from + Math.ceil(body.clientHeight / TABLE_ROW) + 8);
    const lines = [];
    for (let i = from; i < to; i++) {
        const line = tableRow(app, table.shown[i], i);
        if (i === table.at) line.id = "table-current";
        lines.push(line);
    }
    byId("table-rows").replaceChildren(...lines);
}

function moveTable(app, to) {
    findRows(app);
    if (table.shown.length === 0) return;
    const body = byId("table-body");
    table.at = Math.min(table.shown.length - 1, Math.max(0, to));
    const top = table.at * TABLE_ROW;
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top + TABLE_ROW > body.scrollTop + body.clientHeight) {
        body.scrollTop = top + TABLE_ROW - body.clientHeight;
    }
    app.choose(table.shown[table.at].function.id);
    byId("announce").textContent = rowTitle(app, table.shown[table.at]);
}

function tableKey(app, event) {
    findRows(app);
    const page = Math.max(1, Math.floor(byId("table-body").clientHeight / TABLE_ROW) - 1);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                   Home: -table.shown.length, End: table.shown.length};
    if (event.key in moves) moveTable(app, table.at + moves[event.key]);
    else if (event.key === "Enter" && table.shown[table.at]) app.around(table.shown[table.at].function.id);
    else return false;
    return true;
}

function listenToTable(app) {
    const body = byId("table-body");
    body.addEventListener("scroll", () => drawTable(app), {passive: true});
    new ResizeObserver(() => drawTable(app)).observe(body);
    body.addEventListener("click", (event) => {
        const row = event.target.closest(".row");
        if (row) moveTable(app, Number(row.dataset.index));
    });
    body.addEventListener("dblclick", (event) => {
        const row = event.target.closest(".row");
        findRows(app);
        if (row) app.around(table.shown[Number(row.dataset.index)].function.id);
    });
}
