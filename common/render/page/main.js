// main.js - the page's state, and what changes it.

const byId = (id) => document.getElementById(id);

const app = {
    base: null, steps: [], profile: null, process: 0, mode: "down", function: -1, flip: false, widths: "value",
    search: {text: "", regex: false}, match: null, chosen: -1,
    panes: [], hover: null, focus: null, live: null, file: null, drawn: null, waiting: [],

    // A new state of what is shown; where one was, zoom, search and choice stay.
    setProfile(base) {
        const old = this.profile, profile = applySteps(base, this.steps), isRewritten = base === this.base;
        this.base = base;
        this.profile = profile;
        this.showSteps();
        theme.fills.clear();
        if (old) this.carryOver(old);
        if (!profile.isDiff) this.widths = "value";
        if (profile.total === 0 && !(profile.isDiff && profile.diff.before.total > 0)) {
            showHeader(this);
            return this.say("Nothing to show: no weight was counted.");
        }
        this.say("");
        if (!isRewritten) showHeader(this);
        else afterPaint(() => this.profile === profile && showLegend(this)); // all else is the same
        this.setProcess(this.process);
        if (base.isOverview) return;
        doWaiting(this);
        afterPaint(() => makeRoom(base.nodes.n + 1));
    },

    carryOver(old) {
        const isLike = (a, b) => a !== undefined && a.name === b.name && a.kind === b.kind;
        const same = (id) => (id < 0 ? -1 : isLike(this.profile.functions[id], old.functions[id]) ? id
            : this.profile.functions.findIndex((f) => isLike(f, old.functions[id])));
        this.chosen = same(this.chosen);
        this.function = same(this.function);
        if (!old.isOverview) this.process = 0;
        if (this.mode === "around" && this.function < 0) this.mode = "down";
    },

    say(text) {
        byId("message").textContent = text;
        byId("message").hidden = text === "";
        byId("panes").hidden = text !== "";
        if (text !== "") {
            byId("crumbs").replaceChildren();
            for (const pane of this.panes.splice(0)) pane.close();
            this.hover = this.focus = null;
        }
    },

    setProcess(process) {
        const {profile} = this, start = startNode(profile, process);
        this.process = process;
        this.total = profile.nodes.total[start];
        this.totalHidden = profile.nodes.totalHidden[start];
        this.totalName = process === 0 ? "N" : "the process";
        this.chance = process === 0 ? profile.chance : profile.processes[process - 1].chance;
        this.trees = keptOf(profile, process).trees;
        this.updateMatch();
        makeTable(this);
        this.showTrees();
    },

    // [{name, tree, flip}]: one, or the two of a sandwich.
    wantedTrees() {
        const {trees, profile, process} = this;
        if (this.mode === "around") {
            if (!trees.around || trees.around.id !== this.function) {
                trees.around = {id: this.function, ...treesAround(profile, process, this.function)};
            }
            const {callers, callees} = trees.around;
            const both = [{name: "callers", tree: callers, flip: !this.flip},
                          {name: "callees", tree: callees, flip: this.flip}];
            return this.flip ? both.reverse() : both;
        }
        return [{name: this.mode, tree: this.treeOf(this.mode), flip: this.flip}];
    },

    treeOf(mode) {
        const {trees, profile, process} = this;
        trees[mode] = trees[mode] || (mode === "up" ? treeUp : treeDown)(profile, process);
        return trees[mode];
    },

    // The view that takes longest.
    prepareUp() {
        const {trees, profile, process} = this;
        if (trees && !trees.up) doWhenIdle(fineTreeUp(profile, process), (tree) => { trees.up = trees.up || tree; });
    },

    showTrees() {
        const wanted = this.wantedTrees(), host = byId("panes");
        const fits = wanted.length === this.panes.length &&
            wanted.every((w, i) => w.name === this.panes[i].name && w.flip === this.panes[i].flip);
        const old = this.panes, focus = this.focus;
        if (!fits) {
            for (const pane of old) pane.scroller.remove();
            this.panes = wanted.map((w) => new Pane(this, host, w.name, w.flip));
        }
        host.dataset.mode = this.mode;
        this.hover = this.focus = null;
        wanted.forEach((w, i) => this.fillPane(this.panes[i], w, old, focus));
        if (!fits) for (const pane of old) pane.close();
        this.updateFound();
        this.showModes();
        this.showCrumbs();
        sayCurrent(this);
    },

    // Zoom and focus are where they were, by names, if that tree was shown before.
    fillPane(pane, wanted, old, focus) {
        const from = old.find((other) => other.name === wanted.name && other.layout);
        let zoom = 0, at = -1;
        if (from && (this.mode !== "around" || from.around === this.function)) {
            zoom = followPath(from.layout.tree, from.zoom, wanted.tree);
            if (focus && focus.pane === from) at = followPath(from.layout.tree, focus.node, wanted.tree);
        }
        pane.around = this.function;
        pane.setLayout(layoutTree(wanted.tree, this.widths), zoom);
        if (at >= 0) this.focus = {pane, node: at, run: 0};
        this.refine(pane);
    },

    setMode(mode) {
        if (mode === "around" && this.function < 0) this.function = this.currentFunction();
        if (mode === "around" && this.function < 0) return;
        this.mode = mode;
        this.showTrees();
    },

    // The function that the focus, the choice or else the table's first row means.
    currentFunction() {
        const {frames} = this.profile;
        if (this.focus) {
            const frame = this.focus.pane.layout.tree.frame[this.focus.node];
            if (frames.kind[frame] !== KIND_PROCESS) return frames.owner[frame];
        }
        if (this.chosen >= 0) return this.chosen;
        findRows(this);
        return table.shown.length > 0 ? table.shown[0].function.id : -1;
    },

    around(id) {
        if (id < 0) return;
        this.function = id;
        this.setMode("around");
    },

    // Of the function in focus, or chosen in the table.
    addStep(kind) {
        const id = this.currentFunction();
        if (this.base.isDiff || this.base.wide || (kind !== "recursion" && id < 0)) return;
        const {name, module} = kind === "recursion" ? {name: "", module: 0} : this.profile.functions[id];
        this.steps = [...this.steps, {kind, name, module: this.profile.modules[module] || ""}];
        this.setProfile(this.base);
    },

    removeStep(at) {
        this.steps = this.steps.filter((_, i) => i !== at);
        this.setProfile(this.base);
    },

    // What the page's address says now: somebody has gone back, or changed it.
    goTo() {
        const state = readState(this);
        if (this.live) this.live.read(state);
        if (this.file && this.file.profiles.length > 0) this.file.show(this.file.find(state.get("metric")));
        else if (this.base) this.setProfile(this.base);
        if (this.live) this.live.start();
    },

    undo() {
        if (this.steps.length > 0) this.removeStep(this.steps.length - 1);
    },

    showSteps() {
        byId("transform").hidden = this.base.isDiff || this.base.wide;
        byId("steps").hidden = this.steps.length === 0 || byId("transform").hidden;
        byId("steps").replaceChildren(...this.steps.map((step, at) => {
            const chip = element("button", stepText(step));
            chip.type = "button";
            chip.title = "Take this back (u: the last one)";
            chip.addEventListener("click", () => this.removeStep(at));
            return chip;
        }));
        writeState(this);
    },

    setFlip(flip) {
        this.flip = flip;
        this.showTrees();
    },

    setWidths(widths) {
        this.widths = widths;
        this.showTrees();
    },

    zoom(pane, node) {
        pane.zoomTo(node);
        this.showCrumbs();
        this.refine(pane);
    },

    // A tree that leaves out what is too light is made anew for what is zoomed to; what is there is shown meanwhile.
    async refine(pane) {
        const {tree} = pane.layout, wanted = pane.wanted = finerFor(tree, pane.zoom);
        const isWanted = () => pane.wanted === wanted && pane.layout && pane.layout.tree === tree;
        if (!wanted) return;
        await new Promise(afterPaint);
        const finer = await doCalmly(tree.rebuild(wanted), isWanted);
        if (finer) this.useFiner(pane, finer);
    },

    useFiner(pane, finer) {
        const {tree} = pane.layout, focus = this.focus && this.focus.pane === pane ? this.focus.node : -1;
        if (this.mode === "up") this.trees.up = finer;
        else this.trees.around.callers = finer;
        pane.addLayout(layoutTree(finer, this.widths), followPath(tree, pane.zoom, finer));
        this.hover = null;
        if (focus >= 0) this.focus = {pane, node: followPath(tree, focus, finer), run: 0};
        this.updateFound();
    },

    zoomOut() {
        const pane = this.focus ? this.focus.pane : this.panes[0];
        this.zoom(pane, Math.max(0, pane.layout.tree.parent[pane.zoom]));
    },

    setFocus(pane, node) {
        const old = this.focus && this.focus.pane;
        this.focus = {pane, node, run: 0};
        this.chosen = -1;
        if (document.activeElement !== pane.canvas) pane.canvas.focus({preventScroll: true});
        const {start, width} = pane.layout;
        if (start[node] + width[node] <= pane.from || start[node] >= pane.to) this.zoom(pane, 0);
        pane.show(node);
        sayCurrent(this);
        if (old && old !== pane) old.redraw();
        pane.redraw();
    },

    choose(id) {
        this.chosen = id;
        this.updateMatch();
        drawTable(this);
        this.updateFound();
    },

    searchFor(text, regex) {
        this.search = {text, regex};
        this.chosen = -1;
        if (byId("search").value !== text) byId("search").value = text;
        byId("regex").setAttribute("aria-pressed", String(regex));
        this.updateMatch();
        filterTable(this);
        this.updateFound();
        writeState(this);
    },

    // What is lit: what is searched for, else the function chosen in the table.
    updateMatch() {
        const {profile, search} = this;
        const match = matchFrames(profile, search.text, search.regex);
        this.searchError = match && match.error;
        this.match = match && match.hit ? match : null;
        this.lit = this.match;
        if (this.chosen < 0) return;
        const hit = new Uint8Array(profile.frames.n);
        profile.frames.owner.forEach((id, f) => { if (id === this.chosen) hit[f] = 1; });
        this.lit = {hit};
    },

    updateFound() {
        const out = byId("found");
        this.matched = null;
        if (this.lit && this.panes.length > 0) this.matched = this.matchShown();
        out.className = this.searchError ? "bad" : "";
        out.textContent = this.searchError ? "not a regular expression"
            : this.match && this.matched ? this.foundText() : "";
        out.title = this.searchError || "";
        for (const pane of this.panes) pane.redraw();
    },

    // Boxes are those shown; their share is that of whole contexts, of which the callers may not all
    // be in a tree upwards.
    matchShown() {
        const shown = matchTree(this.panes[this.panes.length - 1].layout.tree, this.lit.hit);
        if (this.mode !== "up") return shown;
        return {...matchTree(this.treeOf("down"), this.lit.hit), found: shown.found};
    },

    foundText() {
        const {weight, hidden, found} = this.matched, share = (w) => shareText(w / this.total);
        if (found.length === 0) return "no match";
        const bound = this.totalHidden > 0 ? ` (${share(weight)} \u2026 ` +
            `${share(Math.min(this.total, weight + this.totalHidden - hidden))})` : "";
        return `${share(weight)}${bound} \u00b7 ${countText(found.length)} boxes`;
    },

    nextMatch(step) {
        if (!this.matched || this.matched.found.length === 0) return;
        const pane = this.panes[this.panes.length - 1], {found} = this.matched;
        const at = this.focus && this.focus.pane === pane ? found.indexOf(this.focus.node) : -1;
        const next = at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;
        const typing = document.activeElement === byId("search");
        this.setFocus(pane, found[next]);
        if (typing) byId("search").focus();
    },

    copy(at, whole) {
        const {tree} = at.pane.layout, names = [];
        for (let i = at.node; i >= 0; i = whole ? tree.parent[i] : -1) {
            names.push(this.profile.frames.label[tree.frame[i]]);
        }
        const text = (tree.upwards ? names : names.reverse()).join("\n");
        const told = (done) => { byId("status").textContent = done ? `copied: ${text}` : text; };
        if (!navigator.clipboard) return told(false);
        return navigator.clipboard.writeText(text).then(() => told(true), () => told(false));
    },

    showTable(shown) {
        byId("side").hidden = !shown;
        byId("table-button").setAttribute("aria-pressed", String(shown));
        if (!shown) return;
        drawTable(this);
        byId("table").focus();
    },

    // Of all functions, whatever is searched for.
    rows() {
        findRows(this);
        return table.rows;
    },

    changeTheme() {
        const name = theme.name === "light" ? "dark" : "light";
        storeTheme(name);
        this.useTheme(name);
    },

    useTheme(name) {
        setTheme(name);
        if (!this.profile) return;
        showLegend(this);
        drawTable(this);
        for (const pane of this.panes) pane.drawNow();
    },

    showModes() {
        writeState(this);
        for (const button of document.querySelectorAll("[data-mode]")) {
            if (button.tagName === "BUTTON") button.setAttribute("aria-pressed", String(button.dataset.mode === this.mode));
        }
        for (const button of document.querySelectorAll("[data-width]")) {
            button.setAttribute("aria-pressed", String(button.dataset.width === this.widths));
        }
        byId("flip").setAttribute("aria-pressed", String(this.flip));
    },

    showCrumbs() {
        const pane = this.panes.find((p) => p.zoom !== 0) || this.panes[0], {tree} = pane.layout, path = [];
        for (let i = pane.zoom; i >= 0; i = tree.parent[i]) path.unshift(i);
        byId("crumbs").replaceChildren(...path.map((node) => {
            const crumb = element("button", shortName(this.profile.frames.label[tree.frame[node]]));
            crumb.type = "button";
            crumb.title = this.profile.frames.label[tree.frame[node]];
            crumb.addEventListener("click", () => this.zoom(pane, node));
            return crumb;
        }));
        byId("crumbs").scrollLeft = 1e6;
    },
};

// What was made of a profile, or of one of its processes, and is good as long as the profile is.
function keptOf(profile, process) {
    profile.kept = profile.kept || [];
    return profile.kept[process] = profile.kept[process] || {trees: {}, rows: null};
}

// When the picture is painted, on which somebody waits.
function afterPaint(work) {
    requestAnimationFrame(() => setTimeout(work));
}

function listen() {
    for (const button of document.querySelectorAll("#modes button")) {
        button.addEventListener("click", () => app.setMode(button.dataset.mode));
    }
    for (const button of document.querySelectorAll("#widths button")) {
        button.addEventListener("click", () => app.setWidths(button.dataset.width));
    }
    byId("flip").addEventListener("click", () => app.setFlip(!app.flip));
    byId("table-button").addEventListener("click", () => app.showTable(byId("side").hidden));
    byId("theme").addEventListener("click", () => app.changeTheme());
    byId("help").addEventListener("click", () => byId("keys").showModal());
    byId("facts-button").addEventListener("click", () => byId("facts").showModal());
    byId("search").addEventListener("input", () => app.searchFor(byId("search").value, app.search.regex));
    byId("regex").addEventListener("click", () => app.searchFor(app.search.text, !app.search.regex));
    listenToTransform();
    byId("process").addEventListener("change", () => {
        if (!app.live) app.setProcess(Number(byId("process").value));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        if (!storedTheme()) app.useTheme(systemTheme());
    });
    addEventListener("popstate", () => app.goTo());
    listenToPrint();
    listenToTable(app);
    listenToKeys(app);
}

function listenToTransform() {
    const select = byId("transform");
    select.replaceChildren(new Option("Rewrite\u2026", ""), ...Object.entries(STEP_KINDS).map(([kind, {key, what}]) =>
        new Option(`${what} (${key})`, kind)), new Option("undo (u)", "undo"));
    select.addEventListener("change", () => {
        if (select.value === "undo") app.undo();
        else if (select.value !== "") app.addStep(select.value);
        select.value = "";
    });
}

// On paper it is light, and all rows are there as far as a page holds them.
function listenToPrint() {
    let shown = null;
    const fit = () => app.panes.forEach((pane) => {
        pane.resize();
        pane.drawNow();
    });
    addEventListener("beforeprint", () => {
        shown = theme.name;
        document.documentElement.classList.add("printing");
        app.useTheme("light");
        fit();
    });
    addEventListener("afterprint", () => {
        document.documentElement.classList.remove("printing");
        app.useTheme(shown);
        fit();
    });
}

function main() {
    performance.mark("hcct-begin");
    setTheme(storedTheme() || systemTheme());
    byId("side").hidden = innerWidth < 900;
    byId("table-button").setAttribute("aria-pressed", String(!byId("side").hidden));
    listen();
    const state = readState(app);
    window.hcct = app; // for whoever looks at the page by a script of theirs
    makeWait(app);
    if (!byId("data")) {
        app.live = new Live(app, state);
        app.say("Asking the daemon\u2026");
        app.live.start();
        return;
    }
    app.file = new FileMetrics(app, state);
}

main();
