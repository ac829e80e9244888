// transform.js - contexts rewritten, so that a question is easier to answer; as hcct report does it.
//
// A step is {kind, name, module}: a function is meant by its name and its module's, so that a step means
// the same in the next answer of a daemon, and in somebody else's browser. All weight stays.

const STEP_KINDS = {
    merge: {key: "m", text: "merged", what: "merge the function into its callers"},
    drop: {key: "x", text: "dropped", what: "drop contexts with the function"},
    root: {key: "o", text: "begins at", what: "begin at the function"},
    collapse: {key: "k", text: "collapsed", what: "collapse the function's module"},
    recursion: {key: "e", text: "recursion collapsed", what: "collapse recursion"},
};

class Rewriting {
    // Each context becomes one, or a part of one; one more is node 0.
    constructor(from) {
        const room = from.nodes.n + 1, size = 1 << (33 - Math.clz32(room));
        Object.assign(this, {from, n: 1, node: new Int32Array(from.nodes.n), known: new Int32Array(size)});
        this.frames = {...from.frames};
        for (const name of ["label", "name", "system", "file", "line"]) this.frames[name] = from.frames[name].slice();
        this.functions = from.functions;
        for (const name of ["parent", "frame", "process"]) this[name] = new Int32Array(room);
        for (const name of ["self", "selfError"]) this[name] = new Float64Array(room);
        this.inlined = new Uint8Array(room);
        this.frame[0] = from.nodes.frame[0];
    }

    // A frame that stands for others, of a function that it has alone unless there is one like it.
    addFrame(name, module, kind) {
        const {frames} = this, owner = this.functions.length;
        const same = (f) => frames.kind[f] !== KIND_PROCESS && frames.name[f] === name && frames.module[f] === module;
        for (let f = 0; f < frames.n; f++) if (same(f)) return f;
        const fields = {label: name, name, system: "", file: "", line: 0, module, kind, owner};
        for (const [field, value] of Object.entries(fields)) {
            frames[field] = frames[field].constructor.from({length: frames.n + 1}, (_, f) =>
                (f < frames.n ? frames[field][f] : value));
        }
        this.functions = [...this.functions, {id: owner, frame: frames.n, name, module, kind}];
        return frames.n++;
    }

    // By a table of nodes: 0 is an empty place.
    child(parent, frame, process, inlined) {
        const {known} = this, mask = known.length - 1;
        const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);
        let at = (hash ^ (hash >>> 15)) & mask;
        for (; known[at] !== 0; at = (at + 1) & mask) {
            const node = known[at];
            if (this.parent[node] !== parent || this.frame[node] !== frame) continue;
            this.inlined[node] &= inlined;
            return node;
        }
        const node = known[at] = this.n++;
        this.parent[node] = parent;
        this.frame[node] = frame;
        this.process[node] = process;
        this.inlined[node] = inlined;
        return node;
    }

    // The same frame as before, below another caller.
    below(caller, i) {
        const {nodes} = this.from;
        return this.child(caller, nodes.frame[i], nodes.process[i], nodes.inlined[i]);
    }

    run(where) {
        const {nodes} = this.from;
        for (let i = 1; i < nodes.n; i++) {
            const to = nodes.parent[i] === 0 ? this.below(0, i) : where(this, i, this.node[nodes.parent[i]]);
            this.node[i] = to;
            this.self[to] += nodes.self[i];
            this.selfError[to] += nodes.selfError[i];
        }
        return this.finish();
    }

    finish() {
        const {frames, functions, from, n} = this, nodes = {n};
        for (const name of ["parent", "frame", "process", "self", "selfError", "inlined"]) {
            nodes[name] = this[name].subarray(0, n); // a copy would cost more than the room
        }
        nodes.total = addUp(nodes.parent, nodes.self);
        const profile = {...from, frames, functions, nodes, kept: undefined, rewritten: undefined};
        readHidden(profile);
        nodes.totalHidden = addUp(nodes.parent, nodes.hidden);
        readScaled(nodes, from);
        linkChildren(nodes);
        return profile;
    }
}

// The root of a context's process, in the new profile.
function rootOf(r, node) {
    while (r.parent[node] !== 0) node = r.parent[node];
    return node;
}

const REWRITES = {
    merge: (r, i, caller) => (r.matched[r.from.nodes.frame[i]] ? caller : r.below(caller, i)),
    drop: (r, i, caller) => {
        if (r.frame[caller] === r.out) return caller;
        return r.matched[r.from.nodes.frame[i]]
            ? r.child(rootOf(r, caller), r.out, r.from.nodes.process[i], 0) : r.below(caller, i);
    },
    root: (r, i, caller) => {
        const root = rootOf(r, caller), inside = caller !== root && r.frame[caller] !== r.out;
        if (inside || r.matched[r.from.nodes.frame[i]]) return r.below(inside ? caller : root, i);
        return r.child(root, r.out, r.from.nodes.process[i], 0);
    },
    collapse: (r, i, caller) => {
        if (r.from.frames.module[r.from.nodes.frame[i]] !== r.module) return r.below(caller, i);
        return r.frame[caller] === r.out ? caller : r.child(caller, r.out, r.from.nodes.process[i], 0);
    },
    recursion: (r, i, caller) => {
        const {frame} = r.from.nodes, {owner, kind} = r.from.frames, own = owner[frame[i]];
        if (kind[frame[i]] === KIND_PRUNED) return r.below(caller, i);
        for (let at = caller; r.parent[at] !== 0; at = r.parent[at]) {
            if (owner[r.frame[at]] === own) return at;
        }
        return r.below(caller, i);
    },
};

function applyStep(profile, step) {
    const r = new Rewriting(profile), {frames, modules} = profile;
    r.module = modules.findIndex((path, i) => i > 0 && path === step.module);
    r.matched = frames.name.map((name, f) => frames.kind[f] !== KIND_PROCESS && name === step.name &&
        (modules[frames.module[f]] || "") === step.module);
    r.out = -1;
    if (step.kind === "drop") r.out = r.addFrame("[dropped]", 0, KIND_PSEUDO);
    if (step.kind === "root") r.out = r.addFrame("[not in focus]", 0, KIND_PSEUDO);
    if (step.kind === "collapse" && r.module > 0) r.out = r.addFrame(baseName(step.module), r.module, KIND_PLAIN);
    if (step.kind === "collapse" && r.module <= 0) return profile;
    return r.run(REWRITES[step.kind]);
}

// The last one is kept: to take a step back, and do it again, takes no time.
function applyKept(profile, step) {
    const word = stepWord(step);
    if (!profile.rewritten || profile.rewritten.word !== word) {
        profile.rewritten = {word, profile: applyStep(profile, step)};
    }
    return profile.rewritten.profile;
}

function applySteps(profile, steps) {
    return profile.isDiff || profile.wide ? profile : steps.reduce(applyKept, profile);
}

function stepText(step) {
    const {text} = STEP_KINDS[step.kind];
    return step.kind === "recursion" ? text
        : `${text} ${step.kind === "collapse" ? baseName(step.module) : shortName(step.name)}`;
}
