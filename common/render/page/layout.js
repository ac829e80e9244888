// layout.js - where the boxes of a tree are: by weight from left to right, by depth in rows.

// widths: "value", or "before" for a comparison as it was. Positions are weights, from 0 to total.
function layoutTree(tree, widths) {
    const {n, first} = tree, width = tree[widths], start = zeroes(Float64Array, n);
    for (let i = 0; i < n; i++) {
        let at = start[i];
        for (let child = first[i]; child < first[i + 1]; child++) {
            start[child] = at;
            at += width[child];
        }
    }
    return {tree, width, start, rows: tree.level.length - 1, total: width[0]};
}

// The first node of a row, from `low` on, that ends beyond a position; the row's end when there is none.
function firstBeyond(layout, row, position, low = layout.tree.level[row]) {
    let high = layout.tree.level[row + 1];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (layout.start[middle] + layout.width[middle] > position) high = middle;
        else low = middle + 1;
    }
    return low;
}

// The node at a position of a row, -1: nothing is there.
function nodeAt(layout, row, position) {
    if (row < 0 || row >= layout.rows) return -1;
    const node = firstBeyond(layout, row, position);
    return node < layout.tree.level[row + 1] && layout.start[node] <= position ? node : -1;
}

// The same context in another tree of the same kind, as deep as it is there.
function followPath(from, node, to) {
    const path = [];
    for (let i = node; i > 0; i = from.parent[i]) path.push(from.profile.frames.label[from.frame[i]]);
    let at = 0;
    for (const label of path.reverse()) {
        let child = to.first[at];
        while (child < to.first[at + 1] && to.profile.frames.label[to.frame[child]] !== label) child++;
        if (child === to.first[at + 1]) break;
        at = child;
    }
    return at;
}
