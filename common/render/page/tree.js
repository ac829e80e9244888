// tree.js - the trees that are drawn, each made from the profile's contexts level by level.
//
// Nodes are numbered level by level, and within a level from left to right: children of i are
// first[i] .. first[i + 1] - 1, those of level d are level[d] .. level[d + 1] - 1.
//
// Downwards, a node gathers contexts whose frames are the same from the tree's root on; upwards,
// contexts whose callers are the same from the innermost frame on. Each gathered context is an item:
// where it has come to (cursor) and whose weight it carries (origin).
//
// Upwards, contexts of which each has its own callers make more nodes than anybody could look at:
// what is too light to be seen (`least`) is not followed, until somebody zooms in (tree.rebuild).

const FINEST = 1e-4; // of what is zoomed to: less than half a pixel of any screen

class Growing {
    constructor(type) {
        this.array = new type(1024);
        this.length = 0;
    }

    push(value) {
        if (this.length === this.array.length) {
            const larger = new this.array.constructor(2 * this.length);
            larger.set(this.array);
            this.array = larger;
        }
        this.array[this.length++] = value;
    }

    done() {
        return this.array.slice(0, this.length);
    }
}

const NOTHING = [];

class TreeBuilder {
    // weights: column name -> array by origin; ends(cursor): nothing stands above it, upwards
    constructor(profile, weights, upwards, ends, least) {
        this.profile = profile;
        this.least = least;
        this.weights = Object.entries(weights);
        this.upwards = upwards;
        this.ends = ends;
        this.sums = this.weights.map(() => new Growing(Float64Array));
        for (const name of ["parent", "frame", "first", "lone"]) this[name] = new Growing(Int32Array);
        this.inlined = new Growing(Uint8Array);
        this.level = [0];
        this.stamp = new Int32Array(profile.frames.n).fill(-1);
        this.slot = new Int32Array(profile.frames.n);
    }

    add(parent, frame, items) {
        const inlined = this.profile.nodes.inlined;
        let all = items.length > 0 ? 1 : 0;
        this.parent.push(parent);
        this.frame.push(frame);
        this.lone.push(items.length === 1 ? items[0].origin : -1);
        for (const item of items) all &= inlined[item.cursor];
        this.inlined.push(all);
        this.weights.forEach(([, column], c) => {
            let sum = 0;
            for (const item of items) sum += column[item.origin];
            this.sums[c].push(sum);
        });
    }

    // Groups of the items one step on, by frame, heaviest first.
    step(node, items) {
        const {parent, first, child, frame} = this.profile.nodes, groups = [];
        const put = (cursor, origin) => {
            const f = frame[cursor];
            if (this.stamp[f] !== node) {
                this.stamp[f] = node;
                this.slot[f] = groups.length;
                groups.push({frame: f, weight: 0, items: []});
            }
            const group = groups[this.slot[f]];
            for (const [name, column] of this.weights) {
                if (name === "value" || name === "before") group.weight += column[origin];
            }
            group.items.push({cursor, origin});
        };
        for (const {cursor, origin} of items) {
            if (!this.upwards) {
                for (let i = first[cursor]; i < first[cursor + 1]; i++) put(child[i], child[i]);
            } else if (!this.ends(parent[cursor])) {
                put(parent[cursor], origin);
            }
        }
        return groups.filter((group) => group.weight > 0)
            .sort((a, b) => b.weight - a.weight || a.frame - b.frame);
    }

    // `groups`: of the first level; null: one step from the root's items.
    build(rootFrame, rootItems, groups) {
        this.add(-1, rootFrame, rootItems);
        let levelItems = [rootItems], node = 0;
        for (; levelItems.length > 0;) {
            const below = [];
            for (const items of levelItems) {
                this.first.push(this.parent.length);
                for (const group of node === 0 && groups ? groups : this.step(node, items)) {
                    this.add(node, group.frame, group.items);
                    below.push(group.weight < this.least ? NOTHING : group.items);
                }
                node++;
            }
            this.level.push(node);
            levelItems = below;
        }
        this.first.push(this.parent.length);
        return this.finish();
    }

    finish() {
        const tree = {n: this.parent.length, profile: this.profile, upwards: this.upwards,
                      level: Int32Array.from(this.level)};
        for (const name of ["parent", "frame", "first", "lone", "inlined"]) {
            tree[name] = this[name].done();
        }
        this.weights.forEach(([name], c) => { tree[name] = this.sums[c].done(); });
        tree.depth = new Int32Array(tree.n);
        for (let i = 1; i < tree.n; i++) tree.depth[i] = tree.depth[tree.parent[i]] + 1;
        return tree;
    }
}

// `own`: contexts carry what they weigh themselves, else with all below.
function weightColumns(profile, own) {
    const nodes = profile.nodes;
    const columns = {value: own ? nodes.self : nodes.total,
                     hidden: own ? nodes.hidden : nodes.totalHidden};
    if (!own) Object.assign(columns, {self: nodes.self, selfError: nodes.selfError});
    if (nodes.scaledSelf) columns.scaled = own ? nodes.scaledSelf : nodes.scaledTotal;
    if (profile.isDiff) {
        const {beyond, ...diff} = own ? nodes.selfDiff : nodes.totalDiff;
        Object.assign(columns, diff);
    }
    return columns;
}

// The weight below which nothing is followed upwards when `weight` fills the screen.
function leastOf(weight) {
    return weight * FINEST;
}

const asItem = (node) => ({cursor: node, origin: node});

// The process's root, or node 0, under which all processes are.
function startNode(profile, process) {
    if (process === 0 && profile.processes.length !== 1) return 0;
    for (let i = 1; i < profile.nodes.n; i++) {
        if (profile.nodes.parent[i] === 0 && (process === 0 || profile.nodes.process[i] === process)) {
            return i;
        }
    }
    return 0;
}

// Upwards, a process is worth a box only where there are several.
function endOf(start) {
    return start === 0 ? (node) => node === 0 : (node) => node === start || node === 0;
}

// Heaviest first. Most contexts call few others: those are put in place one by one.
function sortRange(order, from, to, weight) {
    if (to - from > 24) {
        order.subarray(from, to).sort((a, b) => weight[b] - weight[a] || a - b);
        return;
    }
    for (let i = from + 1; i < to; i++) {
        const node = order[i], heavy = weight[node];
        let at = i;
        for (; at > from && weight[order[at - 1]] < heavy; at--) order[at] = order[at - 1];
        order[at] = node;
    }
}

// A column in another order.
function gather(column, order) {
    const out = new column.constructor(order.length);
    for (let i = 0; i < order.length; i++) out[i] = column[order[i]];
    return out;
}

// The contexts below a node, level by level, heaviest first: {order, parent, first, level}.
function levelsBelow(nodes, start, weight) {
    const order = new Int32Array(nodes.n), parent = new Int32Array(nodes.n).fill(-1);
    const first = new Int32Array(nodes.n + 1), level = [0];
    let n = 1, done = 0;
    for (order[0] = start; done < n;) {
        for (const end = n; done < end; done++) {
            const node = order[done];
            first[done] = n;
            for (let c = nodes.first[node]; c < nodes.first[node + 1]; c++) {
                if (weight[nodes.child[c]] > 0) {
                    parent[n] = done;
                    order[n++] = nodes.child[c];
                }
            }
            sortRange(order, first[done], n, weight);
        }
        level.push(done);
    }
    first[n] = n;
    return {n, order: order.slice(0, n), parent: parent.slice(0, n), first: first.slice(0, n + 1),
            level: Int32Array.from(level)};
}

// Contexts as they are: siblings have different frames already, and nothing need be gathered.
function treeDown(profile, process) {
    const {nodes} = profile, columns = weightColumns(profile, false);
    const weight = columns.before ? columns.value.map((w, i) => w + columns.before[i]) : columns.value;
    const {n, order, parent, first, level} = levelsBelow(nodes, startNode(profile, process), weight);
    const tree = {n, profile, upwards: false, parent, first, level, lone: order,
                  frame: gather(nodes.frame, order), depth: new Int32Array(n),
                  inlined: gather(nodes.inlined, order)};
    for (const [name, column] of Object.entries(columns)) tree[name] = gather(column, order);
    for (let i = 1; i < n; i++) tree.depth[i] = tree.depth[parent[i]] + 1;
    return tree;
}

function treeUp(profile, process, least = leastOf(profile.nodes.total[startNode(profile, process)])) {
    const start = startNode(profile, process), {nodes} = profile, items = [], groups = new Map();
    const columns = weightColumns(profile, true);
    for (let i = 1; i < nodes.n; i++) {
        const weight = nodes.self[i] + (columns.before ? columns.before[i] : 0);
        if (weight === 0 || (process !== 0 && nodes.process[i] !== process)) continue;
        const item = asItem(i), frame = nodes.frame[i];
        items.push(item);
        if (!groups.has(frame)) groups.set(frame, {frame, weight: 0, items: []});
        const group = groups.get(frame);
        group.weight += weight;
        group.items.push(item);
    }
    const builder = new TreeBuilder(profile, columns, true, endOf(start), least);
    const tree = builder.build(nodes.frame[start], items,
                               [...groups.values()].sort((a, b) => b.weight - a.weight));
    return Object.assign(tree, {selfWeights: true, least,
                                rebuild: (finer) => treeUp(profile, process, finer)});
}

// Where a function begins that is not called by itself: so nothing is counted twice.
function outermost(profile, process, id) {
    const {nodes, frames} = profile, within = new Uint8Array(nodes.n), items = [];
    for (let i = 1; i < nodes.n; i++) {
        within[i] = within[nodes.parent[i]];
        if (frames.owner[nodes.frame[i]] !== id) continue;
        if (!within[i] && (process === 0 || nodes.process[i] === process)) items.push(asItem(i));
        within[i] = 1;
    }
    return items;
}

function callersOf(profile, process, id, items, least) {
    const {self, selfError, ...columns} = weightColumns(profile, false);
    const ends = endOf(startNode(profile, process));
    const tree = new TreeBuilder(profile, columns, true, ends, least)
        .build(profile.functions[id].frame, items, null);
    return Object.assign(tree, {least, rebuild: (finer) => callersOf(profile, process, id, items, finer)});
}

// Callers (upwards) and callees of a function.
function treesAround(profile, process, id) {
    const items = outermost(profile, process, id), frame = profile.functions[id].frame;
    const callees = new TreeBuilder(profile, weightColumns(profile, false), false, null, 0)
        .build(frame, items, null);
    return {callees, callers: callersOf(profile, process, id, items, leastOf(callees.value[0]))};
}
