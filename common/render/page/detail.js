// detail.js - what is known of one box, in words: tooltip, status line, label for screen readers.


// N is counted, not estimated: a process as a whole has no error.
function isExact(tree, node) {
    return (node === 0 || !tree.upwards) && tree.profile.frames.kind[tree.frame[node]] === KIND_PROCESS;
}

function boundsText(unit, low, high) {
    return `${weightText(unit, Math.max(0, low))} \u2264 true \u2264 ${weightText(unit, high)}`;
}

// Nothing of it is missing. Of a sample that is true of what was seen.
function exactText(app) {
    return app.chance ? "all that was seen" : "exact";
}

// A weight is certain; what stands in [~] elsewhere may belong to it, too.
function inclusiveBounds(app, tree, i) {
    const {profile} = tree;
    if (isExact(tree, i) || app.totalHidden === 0) return exactText(app);
    return boundsText(profile.unit, tree.value[i],
                      Math.min(app.total, tree.value[i] + app.totalHidden - tree.hidden[i]));
}

// Half of a share's 95 % interval: between the shares for which it was told.
function halfWidth(chance, share) {
    const {shares, half_widths: widths} = chance, part = Math.min(share, 1 - share);
    let i = 1;
    while (i < shares.length - 1 && shares[i] > part) i++;
    const way = Math.min(1, Math.log(shares[i - 1] / part) / Math.log(shares[i - 1] / shares[i]));
    return Math.exp((1 - way) * Math.log(widths[i - 1]) + way * Math.log(widths[i]));
}

function samplingText(app, share) {
    if (!app.chance || share <= 0 || share >= 1) return "";
    const points = 100 * halfWidth(app.chance, share);
    return `\u00b1${points >= 0.1 ? points.toFixed(1) : points.toPrecision(1)} points (95 %)`;
}

function placeText(profile, frame) {
    const {frames, modules} = profile, parts = [];
    if (frames.module[frame] > 0) parts.push(baseName(modules[frames.module[frame]]));
    if (frames.kind[frame] === KIND_PROCESS && frames.file[frame]) parts.push(frames.file[frame]);
    else if (frames.file[frame]) {
        parts.push(frames.file[frame] + (frames.line[frame] > 0 ? `:${frames.line[frame]}` : ""));
    }
    return parts.join(" \u00b7 ");
}

function exactWeight(tree, i, own) {
    const {profile} = tree, node = tree.lone[i];
    if (profile.wide && node >= 0) {
        return weightText(profile.unit, nodeWeight(profile, node, own || tree.selfWeights));
    }
    return weightText(profile.unit, own ? tree.self[i] : tree.value[i]);
}

function weightRows(app, tree, i) {
    const {profile} = tree, rows = [], share = app.total > 0 ? tree.value[i] / app.total : 0;
    const parent = tree.parent[i];
    rows.push([tree.selfWeights ? "Self weight" : "Weight", exactWeight(tree, i, false) +
               (UNIT_NS[profile.unit] ? "" : ` ${profile.measure}`), true]);
    rows.push(["Share", `${shareText(share)} of ${app.totalName}` + (parent > 0 && tree.value[parent] > 0
        ? `, ${shareText(tree.value[i] / tree.value[parent])} of ${tree.upwards ? "callee" : "caller"}` : "")]);
    rows.push(["Certain", inclusiveBounds(app, tree, i)]);
    const sampling = samplingText(app, share);
    if (sampling) rows.push(["Sampling", sampling]);
    if (tree.self) {
        rows.push(["Itself", `${exactWeight(tree, i, true)}, ${shareText(tree.self[i] / app.total)}`]);
        if (tree.self[i] > 0 && tree.selfError[i] > 0) {
            rows.push(["", boundsText(profile.unit, tree.self[i], Math.min(app.total, tree.self[i] + tree.selfError[i]))]);
        }
    }
    if (tree.scaled) {
        rows.push(["Scaled", `${estimateText(tree.scaled[i])} ${profile.measure} (seen in bursts)`]);
    }
    return rows;
}

function diffRows(app, tree, i) {
    const {profile} = tree, unit = profile.unit, change = changeOfNode(tree, i);
    const most = Math.max(change.before, change.after), [before, after] = sideWords(app);
    const rows = [
        [before, weightText(unit, change.before)],
        [after, weightText(unit, change.after)],
        ["Change", signed(weightText(unit, change.change), change.change) + (change.before > 0 && most > 0
            ? ` (${signed(shareText(change.change / change.before), change.change)})` : ""), true],
        ["Certain", `${signed(weightText(unit, change.low), change.low)} \u2026 ` +
         signed(weightText(unit, change.high), change.high)],
    ];
    if (change.interval > 0) rows.push(["Sampling", `\u00b1${weightText(unit, change.interval)} (95 %)`]);
    rows.push(["", !change.beyond ? "within its error"
        : change.after === 0 ? "vanished" : change.before === 0 ? "appeared" : "beyond its error"]);
    return rows;
}

// {title, place, badges, rows: [[word, text, strong]]}
function describe(app, at) {
    const {tree} = at.pane.layout, {profile} = tree, frame = tree.frame[at.node];
    const badges = [];
    if (tree.inlined[at.node]) badges.push("inlined");
    if (profile.frames.kind[frame] === KIND_PRUNED) badges.push("pruned: too light to be kept");
    if (at.run > 1) badges.push(`one of ${countText(at.run)} too narrow to draw here`);
    return {title: profile.frames.label[frame], place: placeText(profile, frame), badges,
            rows: profile.isDiff ? diffRows(app, tree, at.node) : weightRows(app, tree, at.node)};
}

function sentence(app, at) {
    const told = describe(app, at);
    return [told.title, ...told.rows.map(([word, text]) => (word ? `${word.toLowerCase()} ${text}` : text)),
            told.place, ...told.badges].filter((part) => part !== "").join(", ");
}

function fillTooltip(box, told) {
    const title = document.createElement("b"), place = document.createElement("small");
    const list = document.createElement("dl");
    title.textContent = told.title.length > 600 ? told.title.slice(0, 600) + "\u2026" : told.title;
    place.textContent = [told.place, ...told.badges].filter((part) => part !== "").join(" \u00b7 ");
    for (const [word, text, strong] of told.rows) {
        const value = document.createElement("dd");
        list.appendChild(document.createElement("dt")).textContent = word;
        value.textContent = text;
        value.className = strong ? "strong" : "";
        list.appendChild(value);
    }
    box.replaceChildren(title, place, list);
}

function showTooltip(app, at, x, y) {
    const box = byId("tooltip");
    fillTooltip(box, describe(app, at));
    box.hidden = false;
    const {width, height} = box.getBoundingClientRect();
    box.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
    box.style.top = `${y + 18 + height < innerHeight ? y + 18 : Math.max(8, y - height - 12)}px`;
}

function hideTooltip() {
    byId("tooltip").hidden = true;
}

// The current box, as text below and for screen readers.
function sayCurrent(app) {
    const at = app.hover || app.focus;
    byId("status").textContent = at ? sentence(app, at)
        : "Click a box to zoom in, press / to search, ? for all keys";
    if (!app.focus) return;
    const text = sentence(app, app.focus);
    app.focus.pane.canvas.setAttribute("aria-label", text);
    if (document.activeElement === app.focus.pane.canvas) byId("announce").textContent = text;
}
