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
    constructor(from) {
        Object.assign(this, {from, known: new Map(), node: new Int32Array(from.nodes.n)});
        this.frames = {...from.frames};
        for (const name of ["label", "name", "system", "file", "line"]) this.frames[name] = from.frames[name].slice();
        for (const name of ["module", "kind", "owner"]) this.frames[name] = Array.from(from.frames[name]);
        this.parent = [0];
        this.frame = [from.nodes.frame[0]];
        this.process = [0];
        this.self = [0];
        this.selfError = [0];
        this.inlined = [0];
    }

    // A frame that stands for others.
    addFrame(name, module, kind) {
        const {frames} = this, same = (f) => frames.name[f] === name && frames.module[f] === module;
        for (let f = 0; f < frames.n; f++) if (same(f)) return f;
        for (const list of ["label", "name"]) frames[list].push(name);
        for (const list of ["system", "file"]) frames[list].push("");
        frames.line.push(0);
        frames.module.push(module);
        frames.kind.push(kind);
        return frames.n++;
    }

    child(parent, frame, process, inlined) {
        const key = parent * 0x1000000 + frame;
        let node = this.known.get(key);
        if (node === undefined) {
            this.known.set(key, node = this.parent.length);
            this.parent.push(parent);
            this.frame.push(frame);
            this.process.push(process);
            this.self.push(0);
            this.selfError.push(0);
            this.inlined.push(inlined);
        } else {
            this.inlined[node] &= inlined;
        }
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
        const {frames, from} = this, nodes = {n: this.parent.length};
        frames.module = Int32Array.from(frames.module);
        frames.kind = Uint8Array.from(frames.kind);
        frames.owner = new Int32Array(frames.n);
        for (const name of ["parent", "frame", "process"]) nodes[name] = Int32Array.from(this[name]);
        nodes.self = Float64Array.from(this.self);
        nodes.selfError = Float64Array.from(this.selfError);
        nodes.inlined = Uint8Array.from(this.inlined);
        nodes.total = addUp(nodes.parent, nodes.self);
        const profile = {...from, frames, nodes};
        ownFrames(profile);
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

function applySteps(profile, steps) {
    return profile.isDiff || profile.wide ? profile : steps.reduce(applyStep, profile);
}

function stepText(step) {
    const {text} = STEP_KINDS[step.kind];
    return step.kind === "recursion" ? text
        : `${text} ${step.kind === "collapse" ? baseName(step.module) : shortName(step.name)}`;
}
