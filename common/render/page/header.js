// header.js - what the profile is: title, chips, details, processes, legend.

function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
}

function fact(profile, word) {
    const found = profile.facts.find(([name]) => name === word);
    return found ? found[1] : "";
}

function processWeights(profile) {
    const weights = profile.processes.map(() => 0), {first, child, process, total} = profile.nodes;
    for (let k = first[0]; k < first[1]; k++) weights[process[child[k]] - 1] = total[child[k]];
    return weights;
}

// The command that was recorded, else the processes' names, the heaviest first.
function titleOf(profile) {
    if (profile.title) return visibleText(profile.title);
    if (profile.processes.length === 1) return processLabel(profile.processes[0]);
    const weights = processWeights(profile), sums = new Map();
    profile.processes.forEach((p, i) => {
        const name = visibleText(p.command || baseName(p.exe));
        sums.set(name, (sums.get(name) || 0) + weights[i]);
    });
    const names = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
    return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

// What the two of a comparison are called: files have an order, of a range and the rest none has come first.
function sideWords(app) {
    return app.live ? ["The rest", "The range"] : ["Before", "After"];
}

function diffSubtitle(app) {
    const {profile} = app, {before, after, mode, why, scale} = profile.diff, unit = profile.unit;
    const [old, now] = sideWords(app).map((word) => word.toLowerCase());
    const lost = (s) => Number(s.lost) > 0 ? `, and ${weightText(unit, Number(s.lost))} lost` : "";
    const side = (s) => `${visibleText(baseName(s.name || s.exe))} (${weightText(unit, Number(s.total))}${lost(s)})`;
    return `${kindText(profile)}: from ${side(before)} to ${side(after)}, ` +
        (mode === "absolute" && scale === 1 ? "weights as they are"
            : mode === "absolute" ? `${old} is scaled by ${scale.toPrecision(4)} for what was lost`
            : mode === "shares" ? `shares compared: ${old} is scaled to the total of ${now}`
            : why === "as long" ? `${old} is scaled by ${scale.toPrecision(4)}, to as long a time as ${now} has`
            : `other amounts of work compared: ${old} is scaled by ${scale.toPrecision(4)}`);
}

function subtitleOf(app, day) {
    const {profile} = app;
    return profile.isDiff ? diffSubtitle(app)
        : [kindText(profile), fact(profile, "N"), day].filter((part) => part !== "").join(" \u00b7 ");
}

// The day comes after the picture: for the first one, a browser takes as long as for half of the rest.
function showSubtitle(app) {
    const {profile} = app;
    byId("subtitle").textContent = subtitleOf(app, "");
    if (profile.isDiff || !(profile.timeMs > 0)) return;
    afterPaint(() => {
        if (app.profile !== profile) return;
        byId("subtitle").textContent = subtitleOf(app, new Date(profile.timeMs).toLocaleString(undefined,
            {dateStyle: "medium", timeStyle: "short"}));
    });
}

function percent(x) {
    return `${Number((x * 100).toPrecision(4))} %`;
}

// [word, value, all of it]
function chipsOf(profile) {
    const chips = [];
    if (profile.isDiff) {
        const {compared, beyond} = profile.diff;
        chips.push(["changed beyond error", `${countText(beyond)} of ${countText(compared)} contexts`, ""]);
        return chips;
    }
    const stacks = fact(profile, "stacks"), cost = fact(profile, "cost"), contexts = fact(profile, "contexts");
    if (stacks) chips.push(["stacks", stacks.split(";")[0], stacks]);
    if (contexts) chips.push(["contexts", contexts.split(" kept")[0], contexts]);
    if (profile.phi > 0) chips.push(["\u03c6", percent(profile.phi), "Hot is what has this share of N or more"]);
    if (profile.epsilon > 0) chips.push(["\u03b5", percent(profile.epsilon), "No count is off by more than this share of N"]);
    if (profile.summary) chips.push(["algorithm", profile.summary, "It decides which contexts are kept"]);
    const lost = /([\d,]+) ticks lost/.exec(cost), share = /^([\d.]+ %)/.exec(cost);
    if (share) chips.push(["agent", share[1], cost]);
    if (lost) chips.push(["lost", lost[1], cost]);
    return chips;
}

function showHeader(app) {
    const {profile} = app;
    byId("command").textContent = profile.isDiff
        ? `${visibleText(profile.diff.after.title || profile.diff.after.exe)}: ${sideWords(app).join(" and ").toLowerCase()}`
        : titleOf(profile);
    showSubtitle(app);
    document.title = `${titleOf(profile)} - hcct`;
    byId("chips").replaceChildren(...chipsOf(profile).map(([word, value, title]) => {
        const chip = element("li");
        chip.append(element("span", word), element("b", value));
        chip.title = title;
        return chip;
    }));
    byId("facts-button").hidden = profile.facts.length === 0;
    byId("facts-list").replaceChildren(...profile.facts.flatMap(([word, text]) =>
        [element("dt", word), element("dd", text)]));
    showProcesses(app);
    showWidths(app);
    showLegend(app);
}

// Boxes of a comparison are as wide as either side.
function showWidths(app) {
    const [before, after] = sideWords(app).map((word) => word.toLowerCase());
    byId("widths").hidden = !app.profile.isDiff;
    document.querySelector('[data-width="value"]').textContent = `Width: ${after}`;
    document.querySelector('[data-width="before"]').textContent = before;
}

function showProcesses(app) {
    const {profile} = app, select = byId("process");
    if (app.live) return; // the server's list is there
    select.hidden = profile.processes.length < 2;
    const weights = processWeights(profile);
    const order = weights.map((w, i) => i).sort((a, b) => weights[b] - weights[a]);
    select.replaceChildren(new Option(`all ${profile.processes.length} processes`, "0"),
        ...order.map((i) => new Option(`${processLabel(profile.processes[i])}, ` +
                                       shareText(weights[i] / (profile.total || 1)), String(i + 1))));
    select.value = String(app.process);
}

function moduleWeights(profile) {
    if (profile.isOverview) return profile.moduleWeights;
    const weights = new Float64Array(profile.modules.length), {nodes, frames} = profile;
    for (let i = 1; i < nodes.n; i++) weights[frames.module[nodes.frame[i]]] += nodes.self[i];
    return weights;
}

function diffLegend() {
    const sample = (change) => changeColor({before: 1, after: 1, ...change});
    return [["grew", sample({beyond: true, change: 0.6})], ["shrank", sample({beyond: true, change: -0.6})],
            ["within its error", sample({beyond: false, change: 0})]];
}

function legendItem(color, name, share, pick) {
    const item = element("li"), button = element("button"), swatch = element("i");
    swatch.style.background = color;
    button.type = "button";
    button.append(swatch, element("span", name), element("small", share));
    button.disabled = !pick;
    if (pick) {
        button.title = "Search for this module";
        button.addEventListener("click", pick);
    }
    item.append(button);
    return item;
}

function showLegend(app) {
    const {profile} = app, weights = moduleWeights(profile);
    assignHues(profile, weights);
    if (profile.isDiff) {
        byId("legend").replaceChildren(...diffLegend().map(([name, color]) => legendItem(color, name, "", null)));
        return;
    }
    const used = new Set(profile.frames.module);
    const order = profile.modules.map((path, i) => i)
        .filter((i) => i > 0 && (used.has(i) || weights[i] > 0)).sort((a, b) => weights[b] - weights[a]).slice(0, 12);
    byId("legend").replaceChildren(...order.map((i) => {
        const name = baseName(profile.modules[i]);
        return legendItem(moduleColor(profile, i), name, shareText(weights[i] / profile.total),
                          () => app.searchFor(`module:${name}`, false));
    }));
}
