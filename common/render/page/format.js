// format.js - numbers and names for people.

const UNIT_NS = {nanoseconds: 1, microseconds: 1e3, milliseconds: 1e6, seconds: 1e9};
const BYTE_UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

// 12,330; of integers and of BigInts.
function countText(n) {
    return String(typeof n === "bigint" ? n : Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

function twoDigits(n) {
    return String(n).padStart(2, "0");
}

function timeText(ns) {
    const seconds = ns / 1e9;
    if (seconds >= 7200) {
        return `${countText(Math.floor(seconds / 3600))} h ${twoDigits(Math.floor(seconds / 60) % 60)} min`;
    }
    if (seconds >= 600) {
        return `${Math.floor(seconds / 60)} min ${twoDigits(Math.floor(seconds) % 60)} s`;
    }
    if (seconds >= 100) return `${seconds.toFixed(1)} s`;
    if (seconds >= 1) return `${seconds.toFixed(2)} s`;
    if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(1)} ms`;
    if (seconds >= 1e-6) return `${(seconds * 1e6).toFixed(1)} us`;
    return `${Math.round(ns)} ns`;
}

function bytesText(bytes) {
    if (bytes < 1024) return `${Math.round(bytes)} bytes`;
    let value = bytes / 1024, unit = 0;
    for (; value >= 1024 && unit + 1 < BYTE_UNITS.length; unit++) value /= 1024;
    return `${value.toFixed(value < 10 ? 2 : 1)} ${BYTE_UNITS[unit]}`;
}

// A weight in the profile's unit. Sums beyond what a number holds exactly are said to be about.
function weightText(unit, weight) {
    if (weight < 0) return "\u2212" + weightText(unit, -weight);
    const ns = UNIT_NS[unit];
    if (ns) return timeText(Number(weight) * ns);
    if (unit === "bytes") return bytesText(Number(weight));
    const about = typeof weight === "number" && weight > Number.MAX_SAFE_INTEGER;
    return (about ? "about " : "") + countText(about ? BigInt(Math.round(weight)) : weight);
}

// In per cent: one decimal, below one two significant digits.
function shareText(share) {
    const percent = share * 100, size = Math.abs(percent);
    if (size === 0) return "0 %";
    if (size >= 99.95 && size < 100) return (percent < 0 ? "\u2212" : "") + "99.9 %";
    if (size < 1e-4) return (percent < 0 ? "\u2212" : "") + "< 0.0001 %";
    const digits = size >= 1 ? 1 : Math.min(6, 1 - Math.floor(Math.log10(size)));
    return `${percent < 0 ? "\u2212" : ""}${size.toFixed(digits)} %`;
}

function signed(text, value) {
    return value > 0 ? "+" + text : text;
}

// An estimate: three digits and zeros.
function estimateText(n) {
    const step = n >= 1000 ? 10 ** (Math.floor(Math.log10(n)) - 2) : 1;
    const rounded = Math.round(n / step) * step;
    return "about " + (rounded < 1e15 ? countText(rounded) : n.toExponential(2));
}

function baseName(path) {
    return path.slice(path.lastIndexOf("/") + 1) || path;
}

// Without what would break a line, or turn the direction of what stands behind it.
function visibleText(text) {
    return text.replace(/[\u0000-\u001f\u007f]/g, (c) => c === "\u007f"
            ? "\u2421" : String.fromCharCode(0x2400 + c.charCodeAt(0)))
        .replace(/[\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
}
