// labels.js - names that fit into boxes.

const LABELS_MOST = 50000;

// By text: the next profile, or the same one rewritten, has most names of the last one.
const labels = {font: "", widths: new Map(), shorts: new Map(), profile: null};

function useLabels(profile, font) {
    labels.profile = profile;
    if (labels.font === font && labels.widths.size < LABELS_MOST) return;
    labels.font = font;
    labels.widths.clear();
    labels.shorts.clear();
}

function widthOf(pen, text) {
    let width = labels.widths.get(text);
    if (width === undefined) labels.widths.set(text, width = pen.measureText(text).width);
    return width;
}

// What stands between brackets, made short: f(int, long) is f, Map<K, V> is Map<...>.
function foldBrackets(name) {
    let out = "", depth = 0;
    for (let i = 0; i < name.length; i++) {
        const c = name[i];
        if (c === "<" && depth++ === 0) out += "<\u2026>";
        else if (c === ">" && name[i - 1] !== "-" && depth > 0) depth--;
        else if (c === "(" && depth === 0 && out !== "" &&
                 !name.startsWith("(anonymous namespace)", i)) break;
        else if (depth === 0) out += c;
    }
    return depth === 0 ? out : name;
}

// Without parameters, template arguments, type of result.
function shortName(name) {
    if (name.includes("operator") || /^[[{]/.test(name)) return name;
    const folded = foldBrackets(name);
    const space = folded.replace("(anonymous namespace)", (x) => x.replace(" ", "_")).lastIndexOf(" ");
    return space > 0 && folded.length > space + 1 && name.includes("(")
        ? folded.slice(space + 1) : folded;
}

// Its last part alone: vector<...>::push_back is push_back, libx.so+0x1234 is +0x1234.
function lastPart(name) {
    const address = /\+0x[0-9a-f]+$/.exec(name);
    if (address) return address[0];
    const at = name.lastIndexOf("::");
    return at > 0 && at + 2 < name.length ? name.slice(at + 2) : name;
}

function cutText(pen, text, room) {
    let low = 0, high = Math.min(text.length, Math.ceil(room / 2));
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (pen.measureText(text.slice(0, middle) + "\u2026").width <= room) low = middle;
        else high = middle - 1;
    }
    return low > 1 ? text.slice(0, low) + "\u2026" : "";
}

// The most of a frame's name that fits into `room`, "" when next to nothing would.
function fitLabel(pen, frame, room) {
    const {frames} = labels.profile, name = frames.label[frame];
    if (room < 14) return "";
    if (name.length <= 400 && widthOf(pen, name) <= room) return name;
    let forms = labels.shorts.get(name);
    if (forms === undefined) {
        const short = shortName(name);
        forms = [short, lastPart(short)].map((text) => ({text, width: pen.measureText(text).width}));
        labels.shorts.set(name, forms);
    }
    for (const form of forms) {
        if (form.width <= room) return form.text;
    }
    return cutText(pen, forms[1].text, room);
}
