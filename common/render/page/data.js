// data.js - the data as the page was given it (page_data.h), made into typed arrays.
//
// Contexts come in the order in which treeDown() draws them: level by level, callees of one caller
// together, the heaviest first.
//
// A frame is what stands in a box: a location, or a process (its root). Frame 0 is all processes.

const KIND_PLAIN = 0, KIND_PRUNED = 1, KIND_PSEUDO = 2, KIND_PLACE = 3, KIND_PROCESS = 4;
// In an overview, what stands for contexts that are not read yet; the second one for such in [~].
const KIND_UNREAD = 5, KIND_UNREAD_PRUNED = 6, UNREAD = new Map([["[...]", KIND_UNREAD], ["[...~]", KIND_UNREAD_PRUNED]]);
const PRUNED = "[~]";
const DIFF_COLUMNS = ["before", "before_error", "before_more", "after_error", "after_more"];

// A column of numbers in digits of five bits.
function unpack(text, column) {
    for (let i = 0, at = 0; i < column.length; i++) {
        let digit, value = 0, scale = 1;
        do {
            const c = text.charCodeAt(at++);
            digit = c === 33 ? 29 : c - 63; // "!" stands for the backslash
            value += (digit & 31) * scale;
            scale *= 32;
        } while (digit >= 32);
        column[i] = value;
    }
    return column;
}

// A table's columns, by name.
function unpackTable(table, names) {
    return Object.fromEntries(names.map((name) => [name, unpack(table[name], new Int32Array(table.n))]));
}

function numbers(profile, list) {
    return new Float64Array(profile.wide ? list.map(Number) : list);
}

function unpackWeights(profile, column, n, step) {
    if (profile.wide) return numbers(profile, column);
    const weights = unpack(column, new Float64Array(n));
    for (let i = 0; i < n && step > 1; i++) weights[i] *= step;
    return weights;
}

function processLabel(process) {
    const name = visibleText(process.command || baseName(process.exe) || "process");
    if (process.pid) return `${name} (pid ${process.pid})`;
    return process.runs > 1 ? `${name} (${countText(process.runs)} runs)` : name;
}

function frameKind(name, module) {
    if (name === PRUNED && module === 0) return KIND_PRUNED;
    if (module === 0 && /^\[.*\]$/.test(name)) return KIND_PSEUDO;
    return /\+0x[0-9a-f]+$/.test(name) ? KIND_PLACE : KIND_PLAIN;
}

// What a frame is called: by line and by site its line, or its address, tells it from its like.
function frameLabel(data, location, line, module, name) {
    if (data.by === "function" || data.by === "module") return name;
    if (line > 0) return `${name}:${line}`;
    return data.by === "site" && module > 0 && !/\+0x[0-9a-f]+$/.test(name)
        ? `${name} @${data.locations.address[location]}` : name;
}

// Nearly always none of them has anything that is to be seen as something else.
function visibleTexts(texts) {
    const all = texts.join("");
    return visibleText(all) === all ? texts : texts.map(visibleText);
}

function readFrames(profile, data, strings) {
    const functions = unpackTable(data.functions, ["name", "system", "file", "line"]);
    const locations = unpackTable(data.locations, ["function", "module", "line"]);
    const n = data.locations.n, all = n + data.processes.length;
    const frames = profile.frames = {
        n: all, label: new Array(all), name: new Array(all), system: new Array(all), file: new Array(all),
        line: new Array(all), module: new Int32Array(all), kind: new Uint8Array(all),
        owner: new Int32Array(all), // function: one name in one module
    };
    for (let i = 0; i < n; i++) {
        const f = locations.function[i], module = locations.module[i], line = locations.line[i];
        const name = strings[functions.name[f]];
        frames.name[i] = name;
        frames.label[i] = frameLabel(data, i, line, module, name);
        frames.system[i] = strings[functions.system[f]];
        frames.file[i] = strings[functions.file[f]];
        frames.line[i] = line || functions.line[f];
        frames.module[i] = module;
        frames.kind[i] = (profile.isOverview && module === 0 && UNREAD.get(name)) || frameKind(name, module);
    }
    frames.label[0] = frames.name[0] = "all processes";
    frames.kind[0] = KIND_PROCESS;
    data.processes.forEach((process, i) => {
        frames.label[n + i] = processLabel(process);
        frames.name[n + i] = visibleText(process.command);
        frames.system[n + i] = "";
        frames.file[n + i] = visibleText(process.exe);
        frames.line[n + i] = 0;
        frames.kind[n + i] = KIND_PROCESS;
    });
}

// Numbers functions: frames of one name and module are one; a process is one by itself.
function ownFrames(profile) {
    const {frames} = profile, functions = profile.functions = [];
    const byName = new Map(), next = []; // one more of a function's name, or -1
    for (let i = 0; i < frames.n; i++) {
        const name = frames.name[i], module = frames.module[i], kind = frames.kind[i];
        const known = kind === KIND_PROCESS ? undefined : byName.get(name);
        let id = known === undefined ? -1 : known;
        while (id >= 0 && functions[id].module !== module) id = next[id];
        if (id < 0) {
            id = functions.length;
            functions.push({id, frame: i, name, module, kind});
            next.push(known === undefined ? -1 : known);
            if (kind !== KIND_PROCESS) byName.set(name, id);
        }
        frames.owner[i] = id;
    }
}

function addUp(parent, own) {
    const sum = copyOf(own);
    for (let i = sum.length - 1; i > 0; i--) sum[parent[i]] += sum[i];
    return sum;
}

// Sums that numbers can't hold, exactly.
function addUpExactly(parent, list) {
    const sum = BigUint64Array.from(list, BigInt);
    for (let i = sum.length - 1; i > 0; i--) sum[parent[i]] += sum[i];
    return sum;
}

// What stands in [~] is of contexts that are not kept: hidden, by node, and unknown, the part of it
// of which not even the function is known.
function readHidden(profile) {
    const {nodes, frames} = profile, inside = zeroes(Uint8Array, nodes.n);
    nodes.hidden = zeroes(Float64Array, nodes.n);
    profile.unknown = 0;
    for (let i = 1; i < nodes.n; i++) {
        const kind = frames.kind[nodes.frame[i]], pruned = kind === KIND_PRUNED || kind === KIND_UNREAD_PRUNED;
        inside[i] = pruned || inside[nodes.parent[i]] ? 1 : 0;
        if (inside[i]) nodes.hidden[i] = nodes.self[i];
        if (pruned) profile.unknown += nodes.self[i];
    }
}

// From how many children each node has: parents, and nodes.first and nodes.child as linkChildren()
// makes them.
function readChildren(nodes, children) {
    const {n} = nodes, first = new Int32Array(n + 1), child = new Int32Array(n), parent = new Int32Array(n);
    for (let i = 0, next = 1; i < n; i++) {
        child[i] = i;
        first[i] = next;
        for (const end = next + children[i]; next < end; next++) parent[next] = i;
    }
    first[n] = n;
    Object.assign(nodes, {parent, first, child});
}

function readNodes(profile, data) {
    const {n} = data.nodes, nodes = profile.nodes = {n, inOrder: true};
    const firstProcess = data.locations.n - 1;
    readChildren(nodes, unpack(data.nodes.children, new Int32Array(n)));
    nodes.frame = unpack(data.nodes.location, new Int32Array(n));
    nodes.process = new Int32Array(n);
    nodes.process.set(unpack(data.nodes.process, new Int32Array(nodes.first[1] - 1)), 1);
    nodes.self = unpackWeights(profile, data.nodes.count, n, data.nodes.step);
    nodes.selfError = unpackWeights(profile, data.nodes.error, n, 1);
    nodes.inlined = new Uint8Array(n);
    for (const i of data.inlined) nodes.inlined[i] = 1;
    for (let i = 1; i < n; i++) {
        if (nodes.parent[i] === 0) nodes.frame[i] = firstProcess + nodes.process[i];
        else nodes.process[i] = nodes.process[nodes.parent[i]];
    }
    nodes.total = addUp(nodes.parent, nodes.self);
    readHidden(profile);
    nodes.totalHidden = addUp(nodes.parent, nodes.hidden);
    if (profile.wide) {
        nodes.exactSelf = BigUint64Array.from(data.nodes.count, BigInt);
        nodes.exactTotal = addUpExactly(nodes.parent, data.nodes.count);
    }
    readScaled(nodes, data);
}

// Where calls are seen in bursts only, what those that were seen stand for.
function readScaled(nodes, data) {
    if (!data.processes.some((process) => process.scale > 1)) return;
    nodes.scaledSelf = nodes.self.map((weight, i) => nodes.process[i] === 0
        ? 0 : weight * data.processes[nodes.process[i] - 1].scale);
    nodes.scaledTotal = addUp(nodes.parent, nodes.scaledSelf);
}

// children of i: child[first[i] .. first[i + 1]). A context with frame 0, below all others, has become one with
// another context: nothing leads to it, and it weighs nothing (transform.js).
function linkChildren(nodes) {
    const {n, parent, frame} = nodes, first = zeroes(Int32Array, n + 1), child = zeroes(Int32Array, n);
    for (let i = 1; i < n; i++) if (frame[i] !== 0) first[parent[i]]++;
    for (let i = 1; i <= n; i++) first[i] += first[i - 1]; // where those of i end, and then begin
    for (let i = n - 1; i > 0; i--) if (frame[i] !== 0) child[--first[parent[i]]] = i;
    nodes.first = first;
    nodes.child = child;
}

// Columns of a comparison by node, own and inclusive. Intervals are kept squared, as they add up.
function readDiff(profile, data) {
    profile.diff = data.diff;
    for (const how of ["self", "inclusive"]) {
        const from = data.diff[how], columns = {};
        for (const name of DIFF_COLUMNS) columns[name] = numbers(profile, from[name]);
        columns.interval2 = Float64Array.from(from.interval, (x) => x * x);
        columns.beyond = Uint8Array.from(from.beyond);
        profile.nodes[how === "self" ? "selfDiff" : "totalDiff"] = columns;
    }
    // node 0, all processes, is nobody's entry
    for (const name of [...DIFF_COLUMNS, "interval2"]) {
        const column = profile.nodes.totalDiff[name];
        for (let i = 1; i < profile.nodes.n; i++) {
            if (profile.nodes.parent[i] === 0) column[0] += column[i];
        }
    }
}

// In parts (parts.js).
function* readInParts(data) {
    const strings = visibleTexts(data.strings);
    yield;
    const profile = {
        isDiff: data.kind === "diff", type: data.type, unit: data.unit, measure: data.measure,
        by: data.by, phi: data.phi, epsilon: data.epsilon, summary: data.summary,
        isOverview: data.isOverview === true, moduleWeights: data.module_weights,
        timeMs: data.time_ms, title: data.title || "", wide: data.wide, facts: data.facts,
        modules: Array.from(unpack(data.modules.path, new Int32Array(data.modules.n)), (i) => strings[i]),
        moduleKeys: [], processes: data.processes, chance: data.chance,
    };
    readFrames(profile, data, strings);
    yield;
    ownFrames(profile);
    yield;
    readNodes(profile, data);
    yield;
    if (profile.isDiff) readDiff(profile, data);
    profile.total = profile.nodes.total[0];
    return profile;
}

function readProfile(data) {
    return doAll(readInParts(data));
}

// The weight of one node for people; exactly where numbers can't.
function nodeWeight(profile, node, own) {
    const nodes = profile.nodes;
    if (!profile.wide) return own ? nodes.self[node] : nodes.total[node];
    return own ? nodes.exactSelf[node] : nodes.exactTotal[node];
}
