// strip.js - the time line of a live page: cells of hours, minutes and seconds, and the range that is
// chosen among them: it is shown, or the rest of the time, or what was different in it.

const LANES = [{seconds: 3600, share: .42, least: 24, most: 24 * 15, name: "hours"},
               {seconds: 60, share: .36, least: 60, most: 60, name: "minutes"},
               {seconds: 2, share: .22, least: 30, most: 30, name: "seconds"}];
const SIDES = {diff: "compared with the rest", rest: "all but that"};
const STRIP_HEIGHT = 44, STRIP_BARS = 30, LANE_GAP = 14;

// By whether they say the day: each takes a browser longer to make than the strip to draw.
const clocks = new Map();

function clockText(seconds, day = false) {
    if (!clocks.has(day)) {
        clocks.set(day, new Intl.DateTimeFormat([], {
            ...(day ? {weekday: "short", day: "numeric", month: "short"} : {}),
            hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
        }));
    }
    return clocks.get(day).format(seconds * 1000);
}

// Cells of one lane, without gaps, up to now.
function laneCells(lane, level, now) {
    const known = new Map(level.map((cell) => [Math.floor(cell.since / lane.seconds), cell]));
    const last = Math.floor(now / lane.seconds) - (lane.seconds === 3600 ? 1 : 0);
    const first = level.length > 0 ? Math.floor(level[0].since / lane.seconds) : last;
    const n = Math.min(lane.most, Math.max(lane.least, last - first + 1)), cells = [];
    for (let index = last - n + 1; index <= last; index++) {
        const cell = known.get(index);
        cells.push({since: index * lane.seconds, until: Math.min(now, (index + 1) * lane.seconds),
                    load: cell ? cell.load : 0});
    }
    return cells;
}

class Strip {
    constructor(live) {
        Object.assign(this, {live, cells: [], marks: [], from: -1, to: -1, kept: null, side: "", at: -1});
        this.canvas = byId("strip-canvas");
        byId("strip").hidden = false;
        this.canvas.addEventListener("pointerdown", (event) => this.press(event));
        this.canvas.addEventListener("pointermove", (event) => this.move(event));
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        this.canvas.addEventListener("focus", () => this.draw());
        this.canvas.addEventListener("blur", () => this.draw());
        for (const side of Object.keys(SIDES)) {
            byId(`strip-${side}`).addEventListener("click", () => this.setSide(side));
        }
        byId("strip-clear").addEventListener("click", () => this.clear());
        new ResizeObserver(() => this.draw()).observe(byId("strip"));
    }

    // What hcctd says, or the range of an address that somebody was given.
    show(line) {
        const chosen = this.range();
        this.cells = [];
        for (const lane of LANES) {
            const level = line.levels.find((l) => l.seconds === lane.seconds);
            const cells = laneCells(lane, level ? level.cells : [], line.now);
            this.cells.push(...cells.map((cell) => ({...cell, lane})));
        }
        this.marks = line.marks || [];
        if (chosen) this.find(chosen);
        this.draw();
    }

    // Those of the moments of a cell.
    marksOf(cell) {
        return this.marks.filter((mark) => mark.time >= cell.since && mark.time < cell.until);
    }

    // The cells of a range: the finest that reach back to it.
    find({since, until}) {
        const lane = [...LANES].reverse().find((l) =>
            this.cells.some((cell) => cell.lane === l && cell.since <= since)) || LANES[0];
        const inside = (cell) => cell.lane === lane && cell.since < until && cell.until > since;
        this.from = this.cells.findIndex(inside);
        this.to = this.from < 0 ? -1 : this.cells.findLastIndex(inside);
        this.kept = this.from < 0 ? {since, until} : null;
    }

    range() {
        if (this.from < 0) return this.kept || null;
        const a = this.cells[Math.min(this.from, this.to)], b = this.cells[Math.max(this.from, this.to)];
        return {since: a.since, until: b.until};
    }

    // Pixels of each cell.
    place() {
        const width = this.canvas.clientWidth - LANE_GAP * (LANES.length - 1), places = [];
        let x = 0, i = 0;
        for (const lane of LANES) {
            const cells = this.cells.filter((cell) => cell.lane === lane), all = lane.share * width;
            cells.forEach((cell, k) => {
                places[i++] = {x: x + all * k / cells.length, width: all / cells.length};
            });
            x += all + LANE_GAP;
        }
        return places;
    }

    draw() {
        const {canvas} = this, ratio = devicePixelRatio || 1, width = byId("strip").clientWidth - 32;
        canvas.style.width = `${width}px`;
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(STRIP_HEIGHT * ratio);
        if (this.cells.length === 0) return;
        const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
        const colors = new Map(["--accent-back", "--raised", "--accent", "--text", "--faint"].map((name) =>
            [name, style.getPropertyValue(name).trim()]));
        const color = (name) => colors.get(name);
        pen.scale(ratio, ratio);
        const most = Math.max(...this.cells.map((cell) => cell.load), 1e-9), places = this.place();
        const low = Math.min(this.from, this.to), high = Math.max(this.from, this.to);
        this.cells.forEach((cell, i) => {
            const {x, width: w} = places[i], bar = Math.max(1, w - (w > 4 ? 1 : 0));
            pen.globalAlpha = 1;
            pen.fillStyle = i >= low && i <= high && low >= 0 ? color("--accent-back") : color("--raised");
            pen.fillRect(x, 0, bar, STRIP_BARS);
            const height = cell.load > 0 ? Math.max(2, STRIP_BARS * cell.load / most) : 0;
            pen.globalAlpha = .35 + .65 * cell.load / most;
            pen.fillStyle = color("--accent");
            pen.fillRect(x, STRIP_BARS - height, bar, height);
        });
        pen.globalAlpha = 1;
        this.cells.forEach((cell, i) => {
            if (this.marksOf(cell).length === 0) return;
            pen.fillStyle = color("--text");
            pen.fillRect(places[i].x, 0, 1, STRIP_BARS);
            pen.fillRect(places[i].x, 0, 4, 3);
        });
        this.frame(pen, places, low, high, color);
        this.label(pen, places, color);
        this.tell();
    }

    frame(pen, places, low, high, color) {
        pen.strokeStyle = color("--text");
        if (low >= 0) {
            const end = places[high].x + places[high].width;
            pen.strokeRect(places[low].x + .5, .5, Math.max(2, end - places[low].x - 1), STRIP_BARS - 1);
        }
        if (document.activeElement !== this.canvas || this.at < 0) return;
        pen.fillStyle = color("--text");
        pen.fillRect(places[this.at].x, STRIP_BARS, Math.max(2, places[this.at].width), 2);
    }

    label(pen, places, color) {
        pen.font = "11px system-ui, sans-serif";
        pen.fillStyle = color("--faint");
        pen.textBaseline = "bottom";
        for (const lane of LANES) {
            const first = this.cells.findIndex((cell) => cell.lane === lane);
            const last = this.cells.findLastIndex((cell) => cell.lane === lane);
            const end = places[last].x + places[last].width, hours = lane.seconds === 3600;
            const text = clockText(this.cells[first].since, hours).replace(/:\d\d$/, hours ? "" : "$&");
            pen.textAlign = "left";
            pen.fillText(text, places[first].x, STRIP_HEIGHT);
            pen.textAlign = "right";
            if (end - places[first].x > 190) pen.fillText(lane.seconds === 2 ? "now" : lane.name, end, STRIP_HEIGHT);
        }
    }

    tell() {
        const range = this.range(), i = this.over >= 0 ? this.over : this.at;
        byId("strip-clear").hidden = range === null;
        for (const side of Object.keys(SIDES)) {
            byId(`strip-${side}`).hidden = range === null;
            byId(`strip-${side}`).setAttribute("aria-pressed", String(this.side === side));
        }
        const parts = [];
        if (range) parts.push(`${clockText(range.since, true)} \u2013 ${clockText(range.until)}`);
        if (range && this.side !== "") parts.push(SIDES[this.side]);
        if (range) parts.push(`hcct diff${this.live.options()} --since ${Math.floor(range.since)} --until ${Math.ceil(range.until)}`);
        if (!range && i >= 0 && this.cells[i]) {
            parts.push(`${clockText(this.cells[i].since, true)}: ${this.loadText(this.cells[i])}`);
        }
        const names = i >= 0 && this.cells[i] ? this.marksOf(this.cells[i]).map((m) => visibleText(m.name)) : [];
        if (names.length > 0) parts.push([...new Set(names)].slice(0, 8).join(", "));
        byId("strip-text").textContent = parts.join(" \u00b7 ") ||
            "Time line: drag to choose a range, or use the arrow keys and Shift";
        this.canvas.setAttribute("aria-label", byId("strip-text").textContent);
    }

    // Times by time are so many processors, or threads.
    loadText(cell) {
        const {profile} = this.live.app, unit = profile ? profile.unit : "nanoseconds";
        return unit === "nanoseconds" ? `load ${cell.load.toFixed(2)}`
            : `${weightText(unit, 1e9 * cell.load)} a second`;
    }

    cellAt(event) {
        const x = event.clientX - this.canvas.getBoundingClientRect().left, places = this.place();
        let best = 0;
        places.forEach(({x: left}, i) => { if (left <= x) best = i; });
        return best;
    }

    press(event) {
        this.canvas.setPointerCapture(event.pointerId);
        this.from = this.to = this.at = this.cellAt(event);
        this.draw();
        this.canvas.addEventListener("pointerup", () => this.choose(0), {once: true});
    }

    move(event) {
        const cell = this.cellAt(event);
        if (event.buttons & 1 && this.from >= 0) this.to = this.at = cell;
        this.over = cell;
        this.draw();
    }

    key(event) {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (step !== undefined) {
            const next = (this.at < 0 ? this.cells.length - 1 : this.at) + step;
            this.at = Math.max(0, Math.min(this.cells.length - 1, next));
            if (event.shiftKey && this.from >= 0) this.to = this.at;
            else this.from = this.to = this.at;
            this.choose();
        } else if (event.key === "Escape") {
            this.clear();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    // By keys, others may follow.
    choose(ms = 150) {
        this.kept = null;
        this.draw();
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.live.change(), ms);
    }

    // Once more: the range itself again.
    setSide(side) {
        if (this.range() === null) return;
        this.side = this.side === side ? "" : side;
        this.draw();
        this.live.change();
    }

    clear() {
        this.from = this.to = -1;
        this.side = "";
        this.choose();
    }

    // As addTo() has written it.
    read(state) {
        const since = Number(state.get("since")), until = Number(state.get("until"));
        this.from = this.to = -1;
        this.kept = since > 0 && until > since ? {since, until} : null;
        this.side = (this.kept && Object.keys(SIDES).find((side) => state.get(side) === "1")) || "";
    }

    // Of the request that is to be made.
    addTo(query) {
        const range = this.range();
        if (!range) return false;
        query.set("since", range.since.toFixed(3));
        query.set("until", range.until.toFixed(3));
        if (this.side !== "") query.set(this.side, "1");
        return true;
    }
}
