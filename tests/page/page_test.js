// page_test.js CHROMIUM CASES: opens each page of CASES and prints, as JSON, what is seen there.
"use strict";
const fs = require("fs");
const http = require("http");
const {launch, open, placeOf, whole} = require(`${__dirname}/browser.js`);

// What the page itself makes of its data: sums, by names, of all that is shown.
function seen(page, {search, around}) {
    return page.evaluate(([text, name]) => {
        const firstRow = (tree) => {
            const sums = Object.create(null), {label} = tree.profile.frames;
            for (let i = tree.first[0]; i < tree.first[1]; i++) {
                sums[label[tree.frame[i]]] = (sums[label[tree.frame[i]]] || 0) + tree.value[i];
            }
            return {total: tree.value[0], children: Object.entries(sums)};
        };
        const out = {total: hcct.profile.total, title: document.title};
        const table = (() => {
            const rows = Object.create(null);
            for (const row of hcct.rows()) {
                rows[`${row.function.name}\n${hcct.profile.modules[row.function.module]}`] = [row.self, row.total];
            }
            return Object.entries(rows); // a name may be __proto__
        })();
        Object.assign(out, {table, down: firstRow(hcct.panes[0].layout.tree)});
        hcct.setMode("up");
        out.up = firstRow(hcct.panes[0].layout.tree);
        if (text) {
            hcct.searchFor(text, false);
            out.matchedUp = hcct.matched.weight;
            hcct.setMode("down");
            out.matched = hcct.matched.weight;
            out.found = document.getElementById("found").textContent;
            hcct.searchFor("", false);
        }
        if (name) {
            hcct.around(hcct.profile.functions.find((f) => f.name === name).id);
            out.callers = firstRow(hcct.panes[0].layout.tree);
            out.callees = firstRow(hcct.panes[1].layout.tree);
        }
        hcct.setMode("down");
        return out;
    }, [search, around]);
}

async function settle(page) {
    await page.waitForFunction(() => hcct.panes.every((pane) => !pane.animation));
}

// Mouse and keys, on the sample "shell": what state each leads to.
async function use(page) {
    const state = () => page.evaluate(() => {
        const name = (pane, node) => hcct.profile.frames.label[pane.layout.tree.frame[node]];
        return {mode: hcct.mode, flip: hcct.flip, zoom: name(hcct.panes[0], hcct.panes[0].zoom),
                range: hcct.panes[0].to - hcct.panes[0].from,
                focus: hcct.focus && name(hcct.focus.pane, hcct.focus.node),
                label: hcct.panes[0].canvas.getAttribute("aria-label"),
                table: !document.getElementById("side").hidden, theme: document.documentElement.dataset.theme,
                tooltip: document.getElementById("tooltip").textContent, match: hcct.match !== null,
                help: document.getElementById("keys").open};
    });
    const steps = {}, press = async (step, ...keys) => {
        for (const key of keys) await page.keyboard.press(key);
        await settle(page);
        steps[step] = await state();
    };
    let at = await placeOf(page, "sqlite3BtreeIndexMoveto");
    await page.mouse.move(at.x, at.y);
    steps.hover = await state();
    await page.mouse.click(at.x, at.y);
    await settle(page);
    steps.click = await state();
    await press("escape", "Escape");
    at = await placeOf(page, "main");
    await page.mouse.click(at.x, at.y);
    await press("down", "Escape", "ArrowDown");
    await press("up", "ArrowUp", "ArrowUp");
    await press("enter", "Enter");
    await press("backspace", "Backspace");
    await press("flip", "i");
    await press("reverse", "i", "r");
    await press("back", "r");
    await press("sandwich", "ArrowDown", "s");
    await press("unsandwich", "s");
    await press("table", "t");
    await press("help", "?");
    await press("nohelp", "Escape");
    await press("theme", "d");
    await page.keyboard.press("/");
    await page.keyboard.type("memcmp");
    await press("search", "Enter");
    await press("nosearch", "Escape", "Escape");
    return steps;
}

// Each rewriting of contexts, by the function of that name, and back; in the address, and from it.
async function rewrite(page, name) {
    const out = await page.evaluate((function_) => {
        const all = {total: hcct.profile.total, nodes: hcct.profile.nodes.n, by: {}, size: hcct.panes[0].canvas.height};
        for (const kind of ["merge", "drop", "root", "collapse", "recursion"]) {
            hcct.focus = null;
            hcct.choose(hcct.profile.functions.find((f) => f.name === function_).id);
            hcct.addStep(kind);
            all.by[kind] = {total: hcct.profile.total, nodes: hcct.profile.nodes.n, hash: location.hash,
                            size: hcct.panes[0].canvas.height,
                            chips: document.querySelectorAll("#steps button").length,
                            names: hcct.rows().map((row) => row.function.name)};
            hcct.undo();
        }
        all.after = {nodes: hcct.profile.nodes.n, hash: location.hash};
        hcct.choose(hcct.profile.functions.find((f) => f.name === function_).id);
        hcct.addStep("merge");
        hcct.setMode("up");
        return all;
    }, name);
    await page.reload();
    out.again = await page.evaluate(() => ({mode: hcct.mode, steps: hcct.steps.map((step) => [step.kind, step.name])}));
    await page.evaluate(() => { location.hash = "#steps=merge,%25;nothing,a,b;,"; });
    await page.reload();
    out.bad = await page.evaluate(() => ({steps: hcct.steps.length, total: hcct.profile.total}));
    return out;
}

// Each step, and two of them one after the other, on all contexts: the same as if each context's path were
// rewritten by itself; callees stand in order; and how many contexts had to be looked at again.
function rewritten(page, which) {
    return page.evaluate((numbers) => {
        const {base} = hcct, {frames, modules} = base, out = {};
        const functions = hcct.rows().map((row) => row.function);
        const [one, other] = numbers.map((i) => functions[i]), sum = (sums, path, weight) => {
            if (weight !== 0) sums.set(path, (sums.get(path) || 0) + weight);
        };
        const keyOf = (frame) => `${frames.label[frame]}\t${frames.module[frame]}`, key = (f) => `${f.name}\t${f.module}`;
        const paths = [[]];
        for (let i = 1; i < base.nodes.n; i++) paths.push([...paths[base.nodes.parent[i]], keyOf(base.nodes.frame[i])]);
        const rules = {
            merge: ([root, ...path], f) => [root, ...path.filter((k) => k !== key(f))],
            drop: ([root, ...path], f) => (path.includes(key(f)) ? [root, "[dropped]\t0"] : [root, ...path]),
            root: ([root, ...path], f) => (path.includes(key(f)) ? [root, ...path.slice(path.indexOf(key(f)))] : [root, "[not in focus]\t0"]),
            collapse: ([root, ...path], f) => {
                const name = `${modules[f.module].replace(/.*\//, "")}\t${f.module}`, isIn = (k) => k.endsWith(`\t${f.module}`);
                return [root, ...path.filter((k, i) => !(i > 0 && isIn(k) && isIn(path[i - 1]))).map((k) => (isIn(k) ? name : k))];
            },
            recursion: (path) => path.reduce((to, k) => (to.includes(k) && k !== "[~]\t0" ? to.slice(0, to.indexOf(k) + 1) : [...to, k]), []),
        };
        const check = (name, ...steps) => {
            const want = new Map(), got = new Map();
            for (let i = 1; i < base.nodes.n; i++) {
                if (base.nodes.self[i] === 0) continue;
                sum(want, steps.reduce((path, [kind, f]) => rules[kind](path, f), paths[i]).join("\n"), base.nodes.self[i]);
            }
            for (const [kind, f] of steps) {
                hcct.focus = null;
                hcct.choose(hcct.profile.functions.find((g) => g.name === f.name && g.module === f.module).id);
                hcct.addStep(kind);
            }
            const {profile} = hcct, {tree} = hcct.panes[0].layout, at = [], {unsorted} = profile.nodes;
            let inOrder = true;
            for (let i = 0; i < tree.n; i++) {
                const k = `${profile.frames.label[tree.frame[i]]}\t${profile.frames.module[tree.frame[i]]}`;
                if (tree.frame[i] === 0) at[i] = ""; // all processes
                else at[i] = tree.parent[i] >= 0 && at[tree.parent[i]] !== "" ? `${at[tree.parent[i]]}\n${k}` : k;
                sum(got, at[i], tree.self[i]);
                for (let c = tree.first[i] + 1; c < tree.first[i + 1]; c++) inOrder = inOrder && tree.value[c] <= tree.value[c - 1];
            }
            out[name] = {same: want.size === got.size && [...want].every(([path, weight]) => got.get(path) === weight), inOrder,
                         paths: want.size, touched: unsorted.reduce((n, yes) => n + (yes ? 1 : 0), 0), contexts: profile.nodes.n};
            for (const _ of steps) hcct.undo();
        };
        for (const kind of Object.keys(rules)) check(kind, [kind, one]);
        check("merge drop", ["merge", one], ["drop", other]);
        check("recursion merge", ["recursion", one], ["merge", other]);
        check("drop drop", ["drop", one], ["drop", other]);
        check("collapse merge", ["collapse", one], ["merge", other]);
        hcct.choose(-1);
        return out;
    }, which);
}

// A tree upwards leaves out what is too light, to begin with more than later; what is zoomed to has it then, and
// nothing else changes. Nobody waits for it.
async function finer(page) {
    const up = await page.evaluate(() => {
        hcct.trees.up = undefined;
        hcct.setMode("up");
        return hcct.panes[0].layout.tree.n;
    });
    await page.waitForFunction(() => hcct.panes[0].layout.tree.finer);
    const out = await page.evaluate(() => {
        const pane = hcct.panes[0], {tree} = pane.layout, label = (i) => hcct.profile.frames.label[tree.frame[i]];
        let light = tree.first[1] - 1;
        while (tree.first[light] !== tree.first[light + 1]) light--;
        const {label: labels} = hcct.profile.frames;
        window.sumsUp = (of) => JSON.stringify(Array.from(of.value.subarray(of.first[0], of.first[1]),
                                                          (weight, i) => [labels[of.frame[of.first[0] + i]], weight]));
        window.fine = tree;
        hcct.zoom(pane, light);
        return {sums: window.sumsUp(tree), label: label(light), weight: tree.value[light], n: tree.n,
                atOnce: pane.zoom === light && pane.layout.tree === tree};
    });
    await page.waitForFunction(() => hcct.panes[0].layout.tree !== window.fine);
    await settle(page);
    const seen = await page.evaluate(() => {
        const pane = hcct.panes[0], {tree} = pane.layout, node = pane.zoom, {start, width} = pane.layout;
        let below = 0;
        for (let i = tree.first[node]; i < tree.first[node + 1]; i++) below += tree.value[i];
        const all = {sums: window.sumsUp(tree), below, label: hcct.profile.frames.label[tree.frame[node]],
                     inSight: pane.from === start[node] && pane.to === start[node] + width[node]};
        hcct.zoom(pane, 0);
        hcct.setMode("down");
        return all;
    });
    return {same: out.sums === seen.sums, below: seen.below, weight: out.weight, zoomed: out.label === seen.label,
            atOnce: out.atOnce, inSight: seen.inSight, more: [up, out.n]};
}

// The file has contexts in the order in which they are drawn; a step leaves them in any order. The tree is
// the same.
function ordered(page) {
    return page.evaluate(() => {
        const text = () => {
            const {tree, start} = hcct.panes[0].layout, lines = [];
            for (let i = 0; i < tree.n; i++) {
                lines.push([hcct.profile.frames.label[tree.frame[i]], tree.parent[i], tree.depth[i], tree.value[i],
                            tree.self[i], tree.hidden[i], start[i]].join());
            }
            return [...tree.level].join() + lines.join("\n");
        };
        const quick = text(), {inOrder} = hcct.profile.nodes;
        hcct.profile.nodes.inOrder = false;
        hcct.profile.kept = undefined;
        hcct.setProcess(0);
        const general = text();
        hcct.profile.nodes.inOrder = inOrder;
        return {inOrder, same: quick === general};
    });
}

// The metrics of one file, by M and by the chooser; and the page's address has the one that is shown.
async function metrics(page) {
    const shown = () => page.evaluate(() => ({type: hcct.profile.type, total: hcct.profile.total, hash: location.hash,
                                              value: document.getElementById("metric").selectedOptions[0].text}));
    const out = {first: await shown()};
    out.offered = await page.evaluate(() => document.getElementById("metric").hidden ? 0 :
        document.getElementById("metric").options.length);
    await page.keyboard.press("M");
    out.second = await shown();
    await page.reload();
    out.again = await shown();
    await page.selectOption("#metric", "0");
    out.back = await shown();
    return out;
}

// Of a large file: what is seen when its overview has come and the rest is held back, and what is asked
// for meanwhile; then with all of it.
async function overview(browser, file, shots) {
    const text = fs.readFileSync(file, "utf8"), at = text.indexOf('<script type="application/json" id="rest">');
    let answer = null;
    const server = http.createServer((_, response) => {
        response.writeHead(200, {"Content-Type": "text/html"});
        response.write(text.slice(0, at));
        answer = response;
    });
    await new Promise((go) => server.listen(0, "127.0.0.1", go));
    const {page, complaints} = await open(browser, `http://127.0.0.1:${server.address().port}/`, "light", "commit");
    await page.waitForFunction(() => window.hcct && hcct.drawn);
    const shown = () => page.evaluate(() => {
        const {layout, width} = hcct.panes[0], {tree} = layout, {label} = hcct.profile.frames, boxes = {}, paths = [];
        for (let i = 0; i < tree.n; i++) {
            paths[i] = `${i > 0 ? paths[tree.parent[i]] : ""}/${label[tree.frame[i]]}`;
            if (layout.width[i] * width < 0.5 * layout.total || label[tree.frame[i]].startsWith("[...")) continue;
            boxes[paths[i]] = [layout.start[i], layout.width[i], tree.hidden[i], tree.self[i], tree.inlined[i]];
        }
        const texts = ["command", "chips", "legend"].map((id) => document.getElementById(id).innerText);
        return {boxes: JSON.stringify(boxes), n: Object.keys(boxes).length, texts, total: tree.value[0], hidden: tree.hidden[0],
                contexts: hcct.profile.nodes.n, mode: hcct.mode, rows: document.querySelectorAll("#table-rows .row").length};
    });
    const out = {first: await shown()};
    await page.screenshot({path: `${shots}/overview.png`});
    await page.keyboard.press("r");
    await page.keyboard.press("/");
    await page.keyboard.type("ns1::");
    out.asked = await shown();
    answer.end(text.slice(at));
    await whole(page);
    out.done = await page.evaluate(() => ({mode: hcct.mode, search: hcct.search.text, found: hcct.matched.weight}));
    await page.evaluate(() => {
        hcct.searchFor("", false);
        hcct.setMode("down");
    });
    out.all = await shown();
    out.drawn = await page.evaluate(() => performance.getEntriesByName("hcct-drawn")[0].detail);
    await page.screenshot({path: `${shots}/overview-all.png`});
    await page.context().close();
    server.close();
    return {...out, complaints};
}

async function visit(browser, one, shots) {
    const {page, complaints} = await open(browser, `file://${one.file}`, one.scheme);
    if (!one.empty) await whole(page);
    const out = one.diff ? await page.evaluate(() => {
        const rows = {};
        for (const row of hcct.rows()) rows[row.function.name] = row.change;
        const widths = () => hcct.panes[0].layout.total;
        const after = widths();
        hcct.setWidths("before");
        return {rows, after, before: widths()};
    }) : one.empty ? {message: await page.textContent("#message")} : await seen(page, one);
    if (one.use) out.steps = await use(page);
    if (one.metrics) out.metrics = await metrics(page);
    if (one.rewrite) out.rewrite = await rewrite(page, one.rewrite);
    if (!one.diff) out.ordered = await ordered(page);
    if (one.rewritten) out.rewritten = await rewritten(page, one.rewritten);
    if (one.finer) out.finer = await finer(page);
    if (one.wide) out.text = await page.evaluate(() => {
        const tree = hcct.panes[0].layout.tree, lines = [];
        for (let node = 0; node < tree.n; node++) {
            hcct.setFocus(hcct.panes[0], node);
            lines.push(hcct.panes[0].canvas.getAttribute("aria-label"));
        }
        return lines;
    });
    await page.screenshot({path: `${shots}/${one.name}.png`});
    out.theme = await page.evaluate(() => document.documentElement.dataset.theme);
    out.handlers = await page.evaluate(() => document.querySelectorAll("img, script:not([type])").length);
    out.drawnMs = await page.evaluate(() => performance.getEntriesByName("hcct-drawn")[0].startTime);
    out.complaints = complaints;
    await page.context().close();
    if (one.overview) out.overview = await overview(browser, one.file, shots);
    return out;
}

(async () => {
    const [chromium, cases, shots] = process.argv.slice(2), browser = await launch(chromium), all = {};
    for (const one of JSON.parse(fs.readFileSync(cases))) all[one.name] = await visit(browser, one, shots);
    await browser.close();
    console.log(JSON.stringify(all));
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
