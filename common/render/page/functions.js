// functions.js - what each function weighs, in all its contexts together.

// By node, 1 where its function is called by itself: what it weighs is in that of its caller. 2: not
// below `start`.
function nestedNodes(profile, start) {
    const {nodes, frames} = profile, nested = new Uint8Array(nodes.n).fill(2);
    const open = new Int32Array(profile.functions.length);
    const stack = new Int32Array(nodes.n + 1), next = new Int32Array(nodes.n + 1);
    const enter = (depth, node) => {
        stack[depth] = node;
        next[depth] = nodes.first[node];
        nested[node] = open[frames.owner[nodes.frame[node]]]++ > 0 ? 1 : 0;
    };
    enter(0, start);
    for (let depth = 0; depth >= 0;) {
        const node = stack[depth];
        if (next[depth] < nodes.first[node + 1]) {
            const child = nodes.child[next[depth]++];
            enter(++depth, child);
        } else {
            open[frames.owner[nodes.frame[node]]]--;
            depth--;
        }
    }
    return nested;
}

// Sums by function of a column of self weights, and of one of weights with all below.
function sumByFunction(profile, nested, column, isTotal) {
    const {nodes, frames} = profile, sums = new Float64Array(profile.functions.length);
    for (let i = 0; i < nodes.n; i++) {
        if (nested[i] === 0 || (nested[i] === 1 && !isTotal)) sums[frames.owner[nodes.frame[i]]] += column[i];
    }
    return sums;
}

// [{function, self, error, total}]; recursion is counted once in total. Of a comparison the columns
// of both sides, too.
function functionRows(profile, process) {
    const {nodes, frames} = profile, nested = nestedNodes(profile, startNode(profile, process));
    const sum = (column, isTotal) => sumByFunction(profile, nested, column, isTotal);
    const self = sum(nodes.self, false), total = sum(nodes.total, true);
    const seen = new Uint8Array(profile.functions.length), rows = [];
    for (let i = 1; i < nodes.n; i++) {
        if (nested[i] === 0 && nodes.parent[i] !== 0) seen[frames.owner[nodes.frame[i]]] = 1;
    }
    seen.forEach((yes, id) => {
        if (yes) rows.push({function: profile.functions[id], self: self[id], error: profile.unknown, total: total[id]});
    });
    if (profile.isDiff) addChanges(profile, rows, sum);
    return rows;
}

function addChanges(profile, rows, sum) {
    const {selfDiff, totalDiff} = profile.nodes, own = {}, all = {};
    for (const name of [...DIFF_COLUMNS, "interval2"]) {
        own[name] = sum(selfDiff[name], false);
        all[name] = sum(totalDiff[name], true);
    }
    const of = (columns, id) => Object.fromEntries(Object.entries(columns).map(([name, c]) => [name, c[id]]));
    for (const row of rows) {
        row.change = changeOf(row.self, of(own, row.function.id));
        row.totalChange = changeOf(row.total, of(all, row.function.id));
    }
}

// A change with its bounds: the smallest that they allow must be more than the interval. One
// context's verdict (`known`) is the comparison's own.
function changeOf(after, columns, known) {
    const before = columns.before, interval = Math.sqrt(columns.interval2);
    const gap = Math.max(after - columns.after_error - (before + columns.before_more),
                         before - columns.before_error - (after + columns.after_more), 0);
    return {before, after, change: after - before, interval,
            low: after - columns.after_error - before - columns.before_more,
            high: after + columns.after_more - before + columns.before_error,
            beyond: known === undefined ? gap > interval && after !== before : known};
}

// The same of a node of a drawn tree.
function changeOfNode(tree, i) {
    const {nodes} = tree.profile, columns = {interval2: tree.interval2[i]};
    for (const name of DIFF_COLUMNS) columns[name] = tree[name][i];
    const known = tree.lone[i] > 0
        ? (tree.selfWeights ? nodes.selfDiff : nodes.totalDiff).beyond[tree.lone[i]] === 1 : undefined;
    return changeOf(tree.value[i], columns, known);
}
