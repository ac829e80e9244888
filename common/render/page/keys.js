// keys.js - the keyboard: everything without a mouse.

const KEYS = [
    ["\u2190 \u2191 \u2192 \u2193", "move among boxes"], ["Enter", "zoom in to the box"],
    ["Backspace", "zoom out by one"], ["Esc", "zoom out, end the search"],
    ["/", "search"], ["n  N", "next and previous match"], ["i", "icicle or flame"],
    ["r", "bottom-up: from what ran to its callers"], ["s", "sandwich: callers and callees of the box's function"],
    ["t", "table of functions"], ["c  C", "copy the name, the whole context"], ["d", "light or dark"],
    ["p", "pause (live)"], ["m  x", "merge the box's function into its callers; drop contexts with it"],
    ["o", "begin at the box's function"], ["k  e", "collapse the box's module; recursion"],
    ["u", "take back the last of these"], ["M", "the next metric that is there"], ["l", "time line (live): arrows choose, Shift extends, Esc clears"],
    ["v", "the chosen time compared with the rest, or by itself again (live)"], ["?", "this help"],
];

function neighbour(pane, node, step) {
    const {tree, width} = pane.layout, row = tree.depth[node];
    for (let i = node + step; i >= tree.level[row] && i < tree.level[row + 1]; i += step) {
        if (width[i] > 0) return i;
    }
    return node;
}

function firstChild(pane, node) {
    const {tree, width} = pane.layout;
    let best = node;
    for (let i = tree.first[node]; i < tree.first[node + 1]; i++) {
        if (width[i] > 0 && (best === node || width[i] > width[best])) best = i;
    }
    return best;
}

// Beyond the middle of a sandwich lies the other pane.
function otherPane(app, pane) {
    return app.panes.find((other) => other !== pane);
}

function moveFocus(app, key) {
    const pane = app.focus ? app.focus.pane : app.panes[app.panes.length - 1];
    const node = app.focus ? app.focus.node : pane.zoom;
    if (!app.focus) return app.setFocus(pane, node);
    if (key === "ArrowLeft" || key === "ArrowRight") {
        return app.setFocus(pane, neighbour(pane, node, key === "ArrowLeft" ? -1 : 1));
    }
    const inwards = (key === "ArrowDown") !== pane.flip;
    if (inwards) return app.setFocus(pane, firstChild(pane, node));
    const parent = pane.layout.tree.parent[node], other = otherPane(app, pane);
    if (parent >= 0) return app.setFocus(pane, parent);
    return other ? app.setFocus(other, 0) : undefined;
}

function escape(app) {
    if (document.activeElement === byId("search")) {
        app.searchFor("", app.search.regex);
        app.panes[0].canvas.focus();
    } else if (app.panes.some((pane) => pane.zoom !== 0)) {
        for (const pane of app.panes) app.zoom(pane, 0);
    } else if (app.search.text !== "") {
        app.searchFor("", app.search.regex);
    } else if (app.mode !== "down") {
        app.setMode("down");
    }
    hideTooltip();
}

const COMMANDS = {
    "/": () => byId("search").select(),
    "n": (app) => app.nextMatch(1),
    "N": (app) => app.nextMatch(-1),
    "i": (app) => app.setFlip(!app.flip),
    "r": (app) => app.setMode(app.mode === "up" ? "down" : "up"),
    "s": (app) => (app.mode === "around" ? app.setMode("down") : app.around(app.currentFunction())),
    "t": (app) => app.showTable(byId("side").hidden),
    "c": (app) => app.focus && app.copy(app.focus, false),
    "C": (app) => app.focus && app.copy(app.focus, true),
    "d": (app) => app.changeTheme(),
    "p": (app) => app.live && app.live.pause(),
    ...Object.fromEntries(Object.entries(STEP_KINDS).map(([kind, {key}]) => [key, (app) => app.addStep(kind)])),
    "u": (app) => app.undo(),
    "l": (app) => app.live && byId("strip-canvas").focus(),
    "v": (app) => app.live && app.live.compare(),
    "M": (app) => (app.live || app.file).nextMetric(),
    "?": () => byId("keys").showModal(),
    "Enter": (app) => app.focus && app.zoom(app.focus.pane, app.focus.node),
    "Backspace": (app) => app.zoomOut(),
};

// Buttons, fields and dialogs keep the keys that are theirs.
function isTheirs(event) {
    const {target, key} = event;
    if (document.querySelector("dialog[open]")) return true;
    if (target.id === "search") return key !== "Escape" && key !== "Enter";
    if (target.tagName === "SELECT") return key !== "Escape";
    return target.tagName === "BUTTON" && (key === "Enter" || key === " ");
}

function onKey(app, event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTheirs(event) || !app.profile) return;
    const inTable = byId("table").contains(event.target);
    let done = true;
    if (event.key === "Escape") escape(app);
    else if (event.target.id === "search") app.nextMatch(event.shiftKey ? -1 : 1);
    else if (inTable && tableKey(app, event)) done = true;
    else if (/^Arrow/.test(event.key)) moveFocus(app, event.key);
    else if (Object.hasOwn(COMMANDS, event.key)) COMMANDS[event.key](app);
    else done = false;
    if (done) event.preventDefault();
}

function listenToKeys(app) {
    byId("keys-list").replaceChildren(...KEYS.flatMap(([key, what]) =>
        [element("dt", key), element("dd", what)]));
    document.addEventListener("keydown", (event) => onKey(app, event));
}
