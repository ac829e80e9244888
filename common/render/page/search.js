// search.js - which frames a pattern means, and what share they have.

// {test(frame), error}: a pattern as people type it. Without a capital letter, case does not matter;
// "module:" and "file:" before it look there instead of at names.
function parsePattern(profile, text, isRegex) {
    const {frames, modules} = profile;
    const [, field, rest] = /^(module:|file:)?([^]*)$/.exec(text);
    const fold = rest === rest.toLowerCase();
    const textOf = field === "module:" ? (f) => modules[frames.module[f]]
        : field === "file:" ? (f) => frames.file[f] : (f) => frames.label[f];
    if (isRegex) {
        try {
            const regex = new RegExp(rest, fold ? "iu" : "u");
            return {test: (f) => regex.test(textOf(f))};
        } catch (error) {
            return {error: error.message};
        }
    }
    return {test: (f) => (fold ? textOf(f).toLowerCase() : textOf(f)).includes(rest)};
}

// By frame, whether it is meant: processes never are. null: nothing is searched for.
function matchFrames(profile, text, isRegex) {
    if (text === "") return null;
    const pattern = parsePattern(profile, text, isRegex);
    if (pattern.error) return pattern;
    const hit = new Uint8Array(profile.frames.n);
    for (let f = 1; f < profile.frames.n; f++) {
        if (profile.frames.kind[f] !== KIND_PROCESS && pattern.test(f)) hit[f] = 1;
    }
    return {hit, owners: hit.reduce((ids, yes, f) => (yes ? ids.add(profile.frames.owner[f]) : ids), new Set())};
}

// What the matching boxes of a tree weigh, those within another not again; and which they are.
function matchTree(tree, hit) {
    const covered = new Uint8Array(tree.n), found = [];
    let weight = 0, hidden = 0, before = 0;
    for (let i = 0; i < tree.n; i++) {
        if (i > 0) covered[i] = covered[tree.parent[i]];
        if (!hit[tree.frame[i]]) continue;
        found.push(i);
        if (!covered[i]) {
            weight += tree.value[i];
            hidden += tree.hidden[i];
            before += tree.before ? tree.before[i] : 0;
        }
        covered[i] = 1;
    }
    return {weight, hidden, before, found};
}
