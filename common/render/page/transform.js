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

// What is said of a context's callees: some may be those of others, too; their order may be another one.
const MIXED = 1, UNSORTED = 2;

// Contexts keep their numbers, and callers come before what they call: a context that becomes one with another one
// goes to the one with the lower number, and is no more, as linkChildren() says. Where nothing has changed, above or beside it,
// nothing is done.
class Rewriting {
    constructor(from) {
        const {nodes} = from;
        Object.assign(this, {from, to: zeroes(Int32Array, nodes.n), callees: zeroes(Uint8Array, nodes.n), outOf: new Map()});
        if (nodes.unsorted) for (let i = 0; i < nodes.n; i++) this.callees[i] = nodes.unsorted[i] === 0 ? 0 : UNSORTED;
        else if (!nodes.inOrder || nodes.total.includes(0)) this.callees.fill(UNSORTED);
        for (const name of ["parent", "frame", "self", "selfError", "inlined"]) this[name] = copyOf(nodes[name]);
        for (let i = 0; i < nodes.n; i++) this.to[i] = i;
        this.frames = {...from.frames};
        for (const name of ["label", "name", "system", "file", "line"]) this.frames[name] = from.frames[name].slice();
        this.functions = from.functions;
        this.known = new Int32Array(1024);
        this.nKnown = 0;
        this.roots = new Int32Array(from.processes.length + 1);
        for (let k = nodes.first[0]; k < nodes.first[1]; k++) this.roots[nodes.process[nodes.child[k]]] = nodes.child[k];
    }

    // A frame that stands for others, of a function that it has alone unless there is one like it.
    addFrame(name, module, kind) {
        const {frames} = this, owner = this.functions.length;
        const same = (f) => frames.kind[f] !== KIND_PROCESS && frames.name[f] === name && frames.module[f] === module;
        for (let f = 0; f < frames.n; f++) if (same(f)) return f;
        const fields = {label: name, name, system: "", file: "", line: 0, module, kind, owner};
        for (const [field, value] of Object.entries(fields)) frames[field] = withOneMore(frames[field], frames.n, value);
        this.functions = [...this.functions, {id: owner, frame: frames.n, name, module, kind}];
        return frames.n++;
    }

    // Its place in a table of nodes, in which 0 is an empty one.
    placeOf(caller, frame) {
        const {known} = this, mask = known.length - 1;
        const hash = Math.imul(caller, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);
        let at = (hash ^ (hash >>> 15)) & mask;
        for (; known[at] !== 0; at = (at + 1) & mask) {
            if (this.parent[known[at]] === caller && this.frame[known[at]] === frame) break;
        }
        return at;
    }

    // That of a caller's callees that has the frame: i itself, which is known from now on, if there was none.
    find(i, caller, frame) {
        if (2 * this.nKnown >= this.known.length) this.growKnown();
        const at = this.placeOf(caller, frame), {known} = this;
        if (known[at] !== 0) return known[at];
        this.nKnown++;
        return known[at] = i;
    }

    growKnown() {
        const old = this.known;
        this.known = new Int32Array(2 * old.length);
        for (const node of old) if (node !== 0) this.known[this.placeOf(this.parent[node], this.frame[node])] = node;
    }

    // Its callers up to one of them, or all, get lighter.
    lighten(i, last = 0) {
        for (let at = i; at !== last; at = this.parent[at]) this.callees[at] |= UNSORTED;
        this.callees[last] |= UNSORTED;
    }

    // From now on, i is j.
    fold(i, j) {
        this.to[i] = j;
        this.self[j] += this.self[i];
        this.selfError[j] += this.selfError[i];
        this.self[i] = this.selfError[i] = this.parent[i] = this.frame[i] = 0;
    }

    // Its callees may be those of others, from context `now` on: those that it had before can be found.
    mix(node, now) {
        if ((this.callees[node] & MIXED) !== 0) return;
        this.callees[node] |= MIXED;
        const {first, child} = this.from.nodes;
        for (let k = first[node]; k < first[node + 1]; k++) {
            if (child[k] < now && this.parent[child[k]] === node) this.find(child[k], node, this.frame[child[k]]);
        }
    }

    // Below a caller, as one with what has the same frame there.
    put(i, caller) {
        const frame = this.frame[i];
        this.parent[i] = caller;
        if ((this.callees[caller] & MIXED) === 0) return;
        const same = this.find(i, caller, frame);
        if (same === i) return;
        this.inlined[same] &= this.inlined[i];
        this.fold(i, same);
        this.mix(same, i);
    }

    rootOf(i) {
        return this.roots[this.from.nodes.process[i]];
    }

    // All that is left out of a process is one context.
    putOut(i) {
        const process = this.from.nodes.process[i];
        this.lighten(this.to[this.from.nodes.parent[i]]);
        if (this.outOf.has(process)) return this.fold(i, this.outOf.get(process));
        this.outOf.set(process, i);
        this.callees[i] |= MIXED; // what it calls goes, too
        this.parent[i] = this.roots[process];
        this.frame[i] = this.out;
        this.inlined[i] = 0;
    }

    // `hit`: contexts at which something begins to change.
    run(act, hit) {
        const {nodes} = this.from, {to, callees} = this;
        for (let i = 1; i < nodes.n; i++) {
            const caller = nodes.parent[i];
            if (hit[i] === 1 && caller !== 0) callees[caller] |= MIXED;
        }
        for (let i = 1; i < nodes.n; i++) {
            const caller = nodes.parent[i], now = to[caller];
            if (caller !== 0 && (now !== caller || hit[i] === 1 || (callees[now] & MIXED) !== 0)) act(this, i, now);
        }
        return this.finish();
    }

    finish() {
        const {frames, functions, from, parent, frame, self, selfError, inlined} = this, {n, process} = from.nodes;
        const nodes = {n, parent, frame, process, self, selfError, inlined, unsorted: this.callees};
        nodes.total = addUp(parent, self);
        const profile = {...from, frames, functions, nodes, kept: undefined, rewritten: undefined};
        readHidden(profile);
        nodes.totalHidden = addUp(nodes.parent, nodes.hidden);
        readScaled(nodes, from);
        linkChildren(nodes);
        return profile;
    }
}

// A column with a value behind those of n entries.
function withOneMore(column, n, value) {
    if (Array.isArray(column)) return [...column, value];
    const longer = new column.constructor(n + 1);
    longer.set(column);
    longer[n] = value;
    return longer;
}

const REWRITES = {
    merge: (r, i, caller) => (r.hit[i] ? r.fold(i, caller) : r.put(i, caller)),
    drop: (r, i, caller) => {
        if (r.frame[caller] === r.out) r.fold(i, caller);
        else if (r.hit[i]) r.putOut(i);
        else r.put(i, caller);
    },
    root: (r, i, caller) => {
        const inside = caller !== r.rootOf(i) && r.frame[caller] !== r.out;
        if (inside) r.put(i, caller);
        else if (r.matched[r.frame[i]]) r.put(i, r.rootOf(i));
        else r.putOut(i);
    },
    collapse: (r, i, caller) => {
        if (!r.hit[i]) return r.put(i, caller);
        if (r.frame[caller] === r.out) return r.fold(i, caller);
        r.frame[i] = r.out;
        r.inlined[i] = 0;
        r.put(i, caller);
    },
    recursion: (r, i, caller) => {
        const {owner} = r.frames, own = owner[r.frame[i]];
        let at = r.hit[i] ? caller : 0;
        while (at !== 0 && (r.parent[at] === 0 || owner[r.frame[at]] !== own)) at = r.parent[at];
        if (at === 0) return r.put(i, caller);
        r.lighten(caller, at);
        r.fold(i, at);
        r.mix(at, i);
    },
};

// By context, whether a step begins to change it.
function hitOf(r, kind) {
    const {nodes, frames} = r.from, hit = zeroes(Uint8Array, nodes.n), {matched, out} = r;
    if (kind === "root") return hit.fill(1);
    const nested = kind === "recursion" ? nestedNodes(r.from, 0) : null;
    for (let i = 1; i < nodes.n; i++) {
        const frame = nodes.frame[i];
        if (nested) hit[i] = nested[i] === 1 && frames.kind[frame] !== KIND_PRUNED ? 1 : 0;
        else hit[i] = matched[frame] === 1 || (frame === out && kind === "drop") ? 1 : 0;
    }
    return hit;
}

function applyStep(profile, step) {
    const r = new Rewriting(profile), {frames, modules} = profile, {kind} = step;
    const module = modules.findIndex((path, i) => i > 0 && path === step.module);
    r.out = -1;
    if (kind === "drop") r.out = r.addFrame("[dropped]", 0, KIND_PSEUDO);
    if (kind === "root") r.out = r.addFrame("[not in focus]", 0, KIND_PSEUDO);
    if (kind === "collapse" && module > 0) r.out = r.addFrame(baseName(step.module), module, KIND_PLAIN);
    if (kind === "collapse" && module <= 0) return profile;
    r.matched = new Uint8Array(r.frames.n);
    for (let f = 1; f < frames.n; f++) {
        const isMeant = kind === "collapse" ? frames.module[f] === module
            : frames.kind[f] !== KIND_PROCESS && frames.name[f] === step.name &&
              (modules[frames.module[f]] || "") === step.module;
        r.matched[f] = isMeant ? 1 : 0;
    }
    r.hit = hitOf(r, kind);
    return r.run(REWRITES[kind], r.hit);
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
