// data.js - the data as the page was given it (page_data.h), made into typed arrays.
//
// A frame is what stands in a box: a location, or a process (its root). Frame 0 is all processes.

const KIND_PLAIN = 0, KIND_PRUNED = 1, KIND_PSEUDO = 2, KIND_PLACE = 3, KIND_PROCESS = 4;
const PRUNED = "[~]";
const DIFF_COLUMNS = ["before", "before_error", "before_more", "after_error", "after_more"];

function numbers(profile, list) {
    return new Float64Array(profile.wide ? list.map(Number) : list);
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
function frameLabel(data, location, name) {
    const line = data.locations.line[location];
    if (data.by === "function" || data.by === "module") return name;
    if (line > 0) return `${name}:${line}`;
    return data.by === "site" && data.locations.module[location] > 0 &&
        !/\+0x[0-9a-f]+$/.test(name) ? `${name} @${data.locations.address[location]}` : name;
}

function readFrames(profile, data) {
    const n = data.locations.function.length, strings = data.strings.map(visibleText);
    const frames = profile.frames = {
        n: n + data.processes.length, label: [], name: [], system: [], file: [], line: [],
        module: new Int32Array(n + data.processes.length),
        kind: new Uint8Array(n + data.processes.length),
        owner: new Int32Array(n + data.processes.length), // function: one name in one module
    };
    for (let i = 0; i < n; i++) {
        const f = data.locations.function[i], module = data.locations.module[i];
        const name = strings[data.functions.name[f]];
        frames.name.push(name);
        frames.label.push(frameLabel(data, i, name));
        frames.system.push(strings[data.functions.system[f]]);
        frames.file.push(strings[data.functions.file[f]]);
        frames.line.push(data.locations.line[i] || data.functions.line[f]);
        frames.module[i] = module;
        frames.kind[i] = frameKind(name, module);
    }
    frames.label[0] = frames.name[0] = "all processes";
    frames.kind[0] = KIND_PROCESS;
    data.processes.forEach((process, i) => {
        frames.label.push(processLabel(process));
        frames.name.push(visibleText(process.command));
        frames.system.push("");
        frames.file.push(visibleText(process.exe));
        frames.line.push(0);
        frames.kind[n + i] = KIND_PROCESS;
    });
}

// Numbers functions: frames of one name and module are one.
function ownFrames(profile) {
    const frames = profile.frames, known = new Map();
    profile.functions = [];
    for (let i = 0; i < frames.n; i++) {
        const key = `${frames.kind[i] === KIND_PROCESS ? i : frames.module[i]}\n${frames.name[i]}`;
        let id = known.get(key);
        if (id === undefined) {
            known.set(key, id = profile.functions.length);
            profile.functions.push({id, frame: i, name: frames.name[i], module: frames.module[i],
                                    kind: frames.kind[i]});
        }
        frames.owner[i] = id;
    }
}

function addUp(parent, own) {
    const sum = own.slice();
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
    const {nodes, frames} = profile, inside = new Uint8Array(nodes.n);
    nodes.hidden = new Float64Array(nodes.n);
    profile.unknown = 0;
    for (let i = 1; i < nodes.n; i++) {
        const frame = nodes.frame[i], pruned = frames.name[frame] === "[~]" && frames.module[frame] === 0;
        inside[i] = pruned || inside[nodes.parent[i]] ? 1 : 0;
        if (inside[i]) nodes.hidden[i] = nodes.self[i];
        if (pruned) profile.unknown += nodes.self[i];
    }
}

function readNodes(profile, data) {
    const n = data.nodes.parent.length, nodes = profile.nodes = {n};
    const firstProcess = data.locations.function.length - 1;
    nodes.parent = new Int32Array(data.nodes.parent);
    nodes.frame = new Int32Array(data.nodes.location);
    nodes.process = new Int32Array(data.nodes.process);
    nodes.self = numbers(profile, data.nodes.count);
    nodes.selfError = numbers(profile, data.nodes.error);
    nodes.inlined = new Uint8Array(n);
    for (const i of data.inlined) nodes.inlined[i] = 1;
    for (let i = 1; i < n; i++) {
        if (nodes.parent[i] === 0) nodes.frame[i] = firstProcess + nodes.process[i];
    }
    nodes.total = addUp(nodes.parent, nodes.self);
    readHidden(profile);
    nodes.totalHidden = addUp(nodes.parent, nodes.hidden);
    if (profile.wide) {
        nodes.exactSelf = BigUint64Array.from(data.nodes.count, BigInt);
        nodes.exactTotal = addUpExactly(nodes.parent, data.nodes.count);
    }
    readScaled(nodes, data);
    linkChildren(nodes);
}

// Where calls are seen in bursts only, what those that were seen stand for.
function readScaled(nodes, data) {
    if (!data.processes.some((process) => process.scale > 1)) return;
    nodes.scaledSelf = nodes.self.map((weight, i) => nodes.process[i] === 0
        ? 0 : weight * data.processes[nodes.process[i] - 1].scale);
    nodes.scaledTotal = addUp(nodes.parent, nodes.scaledSelf);
}

// children of i: child[first[i] .. first[i + 1])
function linkChildren(nodes) {
    const {n, parent} = nodes, first = new Int32Array(n + 1), child = new Int32Array(n);
    for (let i = 1; i < n; i++) first[parent[i] + 1]++;
    for (let i = 0; i < n; i++) first[i + 1] += first[i];
    const next = first.slice(0, n);
    for (let i = 1; i < n; i++) child[next[parent[i]]++] = i;
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

function readProfile(data) {
    const profile = {
        isDiff: data.kind === "diff", type: data.type, unit: data.unit, measure: data.measure,
        by: data.by, phi: data.phi, epsilon: data.epsilon, summary: data.summary,
        timeMs: data.time_ms, title: data.title || "", wide: data.wide, facts: data.facts,
        modules: data.modules.map((i) => visibleText(data.strings[i])), moduleKeys: [],
        processes: data.processes, chance: data.chance,
    };
    readFrames(profile, data);
    ownFrames(profile);
    readNodes(profile, data);
    if (profile.isDiff) readDiff(profile, data);
    profile.total = profile.nodes.total[0];
    return profile;
}

// The weight of one node for people; exactly where numbers can't.
function nodeWeight(profile, node, own) {
    const nodes = profile.nodes;
    if (!profile.wide) return own ? nodes.self[node] : nodes.total[node];
    return own ? nodes.exactSelf[node] : nodes.exactTotal[node];
}
