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
// what is too light to be seen (`least`) is not followed. To begin with that is what is too light on most screens;
// behind it (tree.rebuild) comes more of what is zoomed to (`finer`: its path of frames, and what is too light there).

const FINEST = 1e-4; // of what is zoomed to: less than half a pixel of any screen
const COARSE = 5e-4; // of all, to begin with

const PART = 1024; // nodes that are made before somebody else's turn (parts.js)

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

// Items of a level, those of one node side by side: of its node, where each has come to, whose weight it
// carries.
class Items {
    constructor(room) {
        Object.assign(this, {n: 0, cursor: new Int32Array(room), origin: new Int32Array(room)});
    }
}

class TreeBuilder {
    // weights: column name -> array by origin; ends(cursor): nothing stands above it, upwards
    constructor(profile, weights, upwards, ends, least, finer) {
        const {nodes, frames} = profile;
        Object.assign(this, {profile, upwards, ends, least, finer: finer || {path: [-1], least}});
        this.names = Object.keys(weights);
        this.columns = Object.values(weights);
        this.order = this.names.flatMap((name, c) => (name === "value" || name === "before" ? [c] : []));
        this.sums = this.columns.map(() => new Growing(Float64Array));
        for (const name of ["parent", "frame", "first", "lone", "onPath"]) this[name] = new Growing(Int32Array);
        this.inlined = new Growing(Uint8Array);
        this.level = [0];
        // one step's groups: by frame, by group, and by item
        this.stamp = new Int32Array(frames.n).fill(-1);
        this.slot = new Int32Array(frames.n);
        this.group = {n: 0, frame: new Int32Array(frames.n), size: new Int32Array(frames.n),
                      weight: new Float64Array(frames.n), inlined: new Uint8Array(frames.n),
                      lone: new Int32Array(frames.n), to: new Int32Array(frames.n),
                      sums: this.columns.map(() => new Float64Array(frames.n))};
        this.moved = new Items(nodes.n);
        this.groupOf = new Int32Array(nodes.n);
    }

    // An item goes one step on, into the group of the frame that it comes to.
    put(node, cursor, origin) {
        const {group, moved, columns, stamp, slot} = this, {frame, inlined} = this.profile.nodes, f = frame[cursor];
        if (stamp[f] !== node) {
            stamp[f] = node;
            slot[f] = group.n;
            group.frame[group.n] = f;
            group.size[group.n] = 0;
            group.inlined[group.n] = 1;
            for (let c = 0; c < columns.length; c++) group.sums[c][group.n] = 0;
            group.n++;
        }
        const g = slot[f];
        group.size[g]++;
        group.inlined[g] &= inlined[cursor];
        group.lone[g] = origin;
        for (let c = 0; c < columns.length; c++) group.sums[c][g] += columns[c][origin];
        moved.cursor[moved.n] = cursor;
        moved.origin[moved.n] = origin;
        this.groupOf[moved.n++] = g;
    }

    // Groups of a node's items one step on, heaviest first.
    step(node, items, from, to) {
        const {parent, first, child} = this.profile.nodes, {group, moved, order} = this;
        group.n = moved.n = 0;
        for (let i = from; i < to; i++) {
            const cursor = items.cursor[i];
            if (node === 0 && this.stays) this.put(node, cursor, cursor);
            else if (!this.upwards) {
                for (let k = first[cursor]; k < first[cursor + 1]; k++) this.put(node, child[k], child[k]);
            } else if (!this.ends(parent[cursor])) this.put(node, parent[cursor], items.origin[i]);
        }
        const groups = [];
        for (let g = 0; g < group.n; g++) {
            group.weight[g] = 0;
            for (const c of order) group.weight[g] += group.sums[c][g];
            group.to[g] = -1;
            if (group.weight[g] > 0) groups.push(g);
        }
        return groups.length < 2 ? groups
            : groups.sort((a, b) => group.weight[b] - group.weight[a] || group.frame[a] - group.frame[b]);
    }

    add(parent, g) {
        const {group} = this;
        this.parent.push(parent);
        this.frame.push(group.frame[g]);
        this.lone.push(group.size[g] === 1 ? group.lone[g] : -1);
        this.inlined.push(group.inlined[g]);
        for (let c = 0; c < this.sums.length; c++) this.sums[c].push(group.sums[c][g]);
        this.onPath.push(this.pathFrom(this.onPath.array[parent], group.frame[g]));
    }

    // How far it is along the finer path, whose end goes on below it; -1: it is beside it.
    pathFrom(far, frame) {
        const {path} = this.finer;
        if (far < 0 || far === path.length) return far;
        return path[far] === frame ? far + 1 : -1;
    }

    isFollowed(node, weight) {
        return weight >= (this.onPath.array[node] >= 0 ? this.finer.least : this.least);
    }

    addRoot(frame, items) {
        const {inlined} = this.profile.nodes;
        this.parent.push(-1);
        this.frame.push(frame);
        this.lone.push(items.length === 1 ? items[0] : -1);
        this.inlined.push(items.length > 0 && items.every((item) => inlined[item] === 1) ? 1 : 0);
        this.columns.forEach((column, c) =>
            this.sums[c].push(items.reduce((sum, item) => sum + column[item], 0)));
        this.onPath.push(0);
    }

    // `items`: contexts; `stays`: the first level is of their own frames, not of the next ones.
    build(rootFrame, items, stays) {
        return doAll(this.buildInParts(rootFrame, items, stays));
    }

    * buildInParts(rootFrame, items, stays) {
        const room = this.profile.nodes.n;
        let from = new Items(room), to = new Items(room), ends = [items.length], node = 0;
        this.stays = stays;
        from.cursor.set(items);
        from.origin.set(items);
        this.addRoot(rootFrame, items);
        while (ends.length > 0) {
            const below = [];
            to.n = 0;
            for (let k = 0; k < ends.length; k++, node++) {
                this.first.push(this.parent.length);
                const groups = this.step(node, from, k > 0 ? ends[k - 1] : 0, ends[k]);
                this.addGroups(node, groups, to, below);
                if (node % PART === PART - 1) yield;
            }
            this.level.push(node);
            [from, to, ends] = [to, from, below];
        }
        this.first.push(this.parent.length);
        return this.finish();
    }

    // Their items go to the next level; `below`: where those of each node end there.
    addGroups(node, groups, to, below) {
        const {group, moved, groupOf} = this;
        for (const g of groups) {
            this.add(node, g);
            if (this.isFollowed(this.parent.length - 1, group.weight[g])) {
                group.to[g] = to.n;
                to.n += group.size[g];
            }
            below.push(to.n);
        }
        for (let i = 0; i < moved.n; i++) {
            const g = groupOf[i];
            if (group.to[g] < 0) continue;
            to.cursor[group.to[g]] = moved.cursor[i];
            to.origin[group.to[g]++] = moved.origin[i];
        }
    }

    finish() {
        const tree = {n: this.parent.length, profile: this.profile, upwards: this.upwards,
                      level: Int32Array.from(this.level)};
        for (const name of ["parent", "frame", "first", "lone", "inlined"]) {
            tree[name] = this[name].done();
        }
        this.names.forEach((name, c) => { tree[name] = this.sums[c].done(); });
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
    const out = zeroes(column.constructor, order.length);
    for (let i = 0; i < order.length; i++) out[i] = column[order[i]];
    return out;
}

// The contexts below a node, level by level, heaviest first: {order, parent, first, level}. `unsorted`: of
// contexts that transform.js has not touched, callees are in that order, and all weigh something.
function levelsBelow(nodes, start, weight) {
    const {unsorted} = nodes;
    const order = zeroes(Int32Array, nodes.n), parent = zeroes(Int32Array, nodes.n);
    const first = zeroes(Int32Array, nodes.n + 1), level = [0];
    let n = 1, done = 0;
    parent[0] = -1;
    for (order[0] = start; done < n;) {
        for (const end = n; done < end; done++) {
            const node = order[done];
            first[done] = n;
            if (unsorted && unsorted[node] === 0) {
                for (let c = nodes.first[node]; c < nodes.first[node + 1]; c++) {
                    parent[n] = done;
                    order[n++] = nodes.child[c];
                }
                continue;
            }
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
    const part = (column, end = n) => column.subarray(0, end);
    return {n, order: part(order), parent: part(parent), first: part(first, n + 1), level: Int32Array.from(level),
            take: (column) => gather(column, part(order))};
}

// The same where contexts are in that order already, and all of them are wanted; null: they are not.
function levelsInOrder(nodes, start, weight) {
    const all = start === 0 || (start === 1 && nodes.first[1] === 2);
    if (!nodes.inOrder || !all || weight.includes(0)) return null;
    const n = nodes.n - start, level = [0];
    const parent = new Int32Array(n), first = new Int32Array(n + 1), order = new Int32Array(n);
    for (let i = 0; i < n; i++) {
        order[i] = start + i;
        parent[i] = nodes.parent[start + i] - start;
        first[i] = nodes.first[start + i] - start;
    }
    parent[0] = -1;
    first[n] = n;
    for (let end = 1; level[level.length - 1] < n; end = first[end]) level.push(end);
    return {n, order, parent, first, level: Int32Array.from(level), take: (column) => column.subarray(start)};
}

// Some columns are never asked for.
function takeWhenAsked(tree, name, take) {
    Object.defineProperty(tree, name, {configurable: true, enumerable: true, get() {
        const value = take();
        Object.defineProperty(tree, name, {value});
        return value;
    }});
}

// Contexts as they are: siblings have different frames already, and nothing need be gathered.
function treeDown(profile, process) {
    const {nodes} = profile, columns = weightColumns(profile, false), start = startNode(profile, process);
    const weight = columns.before ? columns.value.map((w, i) => w + columns.before[i]) : columns.value;
    const {n, order, parent, first, level, take} =
        levelsInOrder(nodes, start, weight) || levelsBelow(nodes, start, weight);
    const tree = {n, profile, upwards: false, parent, first, level, lone: order,
                  frame: take(nodes.frame), depth: zeroes(Int32Array, n), inlined: take(nodes.inlined)};
    for (const [name, column] of Object.entries(columns)) takeWhenAsked(tree, name, () => take(column));
    for (let i = 1; i < n; i++) tree.depth[i] = tree.depth[parent[i]] + 1;
    return tree;
}

function treeUp(profile, process) {
    return doAll(treeUpInParts(profile, process, null));
}

// As a zoom to all would have it.
function fineTreeUp(profile, process) {
    return treeUpInParts(profile, process, {path: [], least: FINEST * profile.nodes.total[startNode(profile, process)]});
}

function* treeUpInParts(profile, process, finer) {
    const start = startNode(profile, process), {nodes} = profile, items = [];
    const columns = weightColumns(profile, true), least = COARSE * nodes.total[start];
    for (let i = 1; i < nodes.n; i++) {
        const weight = nodes.self[i] + (columns.before ? columns.before[i] : 0);
        if (weight !== 0 && (process === 0 || nodes.process[i] === process)) items.push(i);
    }
    const tree = yield* new TreeBuilder(profile, columns, true, endOf(start), least, finer)
        .buildInParts(nodes.frame[start], items, true);
    return Object.assign(tree, {selfWeights: true, least, finer,
                                rebuild: (wanted) => treeUpInParts(profile, process, wanted)});
}

// Where a function begins that is not called by itself: so nothing is counted twice.
function outermost(profile, process, id) {
    const {nodes, frames} = profile, within = new Uint8Array(nodes.n), items = [];
    for (let i = 1; i < nodes.n; i++) {
        within[i] = within[nodes.parent[i]];
        if (frames.owner[nodes.frame[i]] !== id) continue;
        if (!within[i] && (process === 0 || nodes.process[i] === process)) items.push(i);
        within[i] = 1;
    }
    return items;
}

function* callersInParts(profile, process, id, items, least, finer) {
    const {self, selfError, ...columns} = weightColumns(profile, false);
    const ends = endOf(startNode(profile, process));
    const tree = yield* new TreeBuilder(profile, columns, true, ends, least, finer)
        .buildInParts(profile.functions[id].frame, items, false);
    return Object.assign(tree, {least, finer,
                                rebuild: (wanted) => callersInParts(profile, process, id, items, least, wanted)});
}

// Callers (upwards) and callees of a function.
function treesAround(profile, process, id) {
    const items = outermost(profile, process, id), frame = profile.functions[id].frame;
    const callees = new TreeBuilder(profile, weightColumns(profile, false), false, null, 0, null)
        .build(frame, items, false);
    return {callees, callers: doAll(callersInParts(profile, process, id, items, COARSE * callees.value[0], null))};
}

function framesTo(tree, node) {
    const path = [];
    for (let i = node; i > 0; i = tree.parent[i]) path.push(tree.frame[i]);
    return path.reverse();
}

// What a tree needs to have more of what is below a node, which is to fill the screen; null: it has it.
function finerFor(tree, node) {
    const least = FINEST * (tree.value[node] || tree.value[0]), path = framesTo(tree, node);
    const {finer} = tree, isWithin = finer && finer.path.every((frame, i) => path[i] === frame);
    return !tree.rebuild || (isWithin ? finer.least : tree.least) <= least ? null : {path, least};
}
