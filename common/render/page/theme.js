// theme.js - light and dark, and the colours of boxes: hue by module, shade by function.

const INKS = {
    light: {back: "#ffffff", text: "#14161a", faint: "#4b5059", line: "#1b1f27", hatch: "rgba(255,255,255,.62)",
            neutral: "#d4d6da", neutralLine: "#aeb2b9", small: "#c3c7ce", match: "#e0218a",
            matchText: "#ffffff", focus: "#1253d6"},
    dark: {back: "#16181c", text: "#101216", faint: "#c3c8d0", line: "#f4f5f7", hatch: "rgba(22,24,28,.6)",
           neutral: "#8b919b", neutralLine: "#626872", small: "#565c66", match: "#ff4fa8",
           matchText: "#22020f", focus: "#8ab6ff"},
};

// Hues that can be told apart, in degrees of OKLCH.
const HUES = [60, 250, 145, 305, 25, 195, 95, 275, 345, 170, 220, 120];

const theme = {name: "light", hueOf: new Map(), fills: new Map()};

function systemTheme() {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// Files opened from a disk may have no storage: the choice is then for this page only.
function storedTheme() {
    try {
        return localStorage.getItem("hcct-theme");
    } catch (error) {
        return null;
    }
}

function storeTheme(name) {
    try {
        localStorage.setItem("hcct-theme", name);
    } catch (error) { /* as above */ }
}

function setTheme(name) {
    theme.name = name;
    theme.ink = INKS[name];
    theme.fills.clear();
    theme.patterns = null;
    document.documentElement.dataset.theme = name;
}

function hashText(text) {
    let hash = 2166136261;
    for (let i = 0; i < text.length; i++) {
        hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
    }
    // the last characters must tell in the high bits, too
    hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
    return (hash ^ (hash >>> 13)) >>> 0;
}

function oklch(lightness, chroma, hue) {
    const angle = hue * Math.PI / 180, a = chroma * Math.cos(angle), b = chroma * Math.sin(angle);
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
    const bytes = linear.map((x) => {
        const value = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
        return Math.round(255 * Math.min(1, Math.max(0, value)));
    });
    return `rgb(${bytes.join(",")})`;
}

// A module keeps its hue as long as the page is open; the next free one where two would share.
function assignHues(profile, weights) {
    const order = profile.modules.map((path, i) => i).filter((i) => i > 0)
        .sort((a, b) => weights[b] - weights[a]);
    for (const i of order) {
        const key = baseName(profile.modules[i]).replace(/[-.0-9]+$/, "").replace(/\.so.*$/, "");
        profile.moduleKeys[i] = key;
        if (theme.hueOf.has(key)) continue;
        let at = hashText(key) % HUES.length;
        const used = new Set([...theme.hueOf.values()]);
        for (let tries = 0; used.has(HUES[at]) && tries < HUES.length; tries++) {
            at = (at + 1) % HUES.length;
        }
        theme.hueOf.set(key, HUES[at]);
    }
}

// Lightness, chroma and hue; yellows are brown unless they are lighter than the rest.
function shadeOf(hue, shade, chroma) {
    const bright = 0.05 * Math.max(0, 1 - Math.abs(hue - 95) / 40);
    return theme.name === "light" ? [0.84 + bright + 0.085 * shade, chroma, hue]
        : [0.715 + bright + 0.085 * shade, chroma * 0.95, hue];
}

function moduleColor(profile, module) {
    if (module === 0) return theme.ink.neutral;
    const hue = theme.hueOf.get(profile.moduleKeys[module]);
    return oklch(...shadeOf(hue, 0, 0.11));
}

function functionColor(profile, id) {
    const known = theme.fills.get(id);
    if (known !== undefined) return known;
    const {name, module, kind} = profile.functions[id], hash = hashText(name);
    const shade = (hash % 101) / 100 - 0.5, turn = ((hash >>> 8) % 101) / 100 - 0.5;
    let color = theme.ink.neutral;
    if (kind !== KIND_PROCESS && module !== 0) {
        const hue = theme.hueOf.get(profile.moduleKeys[module]) + 24 * turn;
        color = oklch(...shadeOf(hue, shade, kind === KIND_PLACE ? 0.05 : 0.11));
    }
    theme.fills.set(id, color);
    return color;
}

// Red grew, blue shrank, the more the larger the change is beside the larger of both; grey where
// the change is within its error.
function changeColor(change) {
    const light = theme.name === "light";
    if (!change.beyond) return light ? "#dcdee2" : "#8b919b";
    const most = Math.max(change.before, change.after);
    const strength = Math.min(1, Math.sqrt(Math.abs(change.change) / most));
    const hue = change.change > 0 ? 27 : 255;
    return light ? oklch(0.9 - 0.2 * strength, 0.04 + 0.13 * strength, hue)
        : oklch(0.76 - 0.1 * strength, 0.04 + 0.13 * strength, hue);
}

// Diagonal lines, for what is pruned and for what may not be true.
function hatch(color, gap, weight) {
    const tile = document.createElement("canvas"), scale = devicePixelRatio || 1;
    tile.width = tile.height = Math.round(gap * scale);
    const pen = tile.getContext("2d"), size = tile.width;
    pen.strokeStyle = color;
    pen.lineWidth = weight * scale;
    pen.beginPath();
    for (const shift of [-size, 0, size]) {
        pen.moveTo(shift - 1, size + 1);
        pen.lineTo(shift + size + 1, -1);
    }
    pen.stroke();
    return tile;
}

function patterns(pen) {
    const scale = devicePixelRatio || 1;
    if (theme.patterns && theme.patterns.scale === scale) return theme.patterns;
    const make = (color, gap, weight) => {
        const pattern = pen.createPattern(hatch(color, gap, weight), "repeat");
        pattern.setTransform(new DOMMatrix().scale(1 / scale));
        return pattern;
    };
    theme.patterns = {scale, error: make(theme.ink.hatch, 6, 2.2),
                      pruned: make(theme.ink.neutralLine, 8, 1.6)};
    return theme.patterns;
}
