// draw.js - a layout on a canvas. Only rows in sight are looked at, only boxes of half a pixel or
// more are drawn as such; runs of smaller ones are one bar of their own colour.

const ROW = 22;        // pixels from row to row
const GAP = 1;         // between boxes
const LEAST = 0.5;     // pixels that a box must have
const FONT = '12px "Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

class Drawing {
    // pane: what is to be drawn (view.js); app: search, hover, focus
    constructor(pane, pen) {
        Object.assign(this, {pane, pen, ink: theme.ink, layout: pane.layout,
                             tree: pane.layout.tree, scale: pane.width / (pane.to - pane.from)});
        this.frames = this.tree.profile.frames;
        this.patterns = patterns(pen);
        this.boxes = 0;
        useLabels(this.tree.profile, FONT);
    }

    draw() {
        const {pen, pane} = this;
        pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        pen.fillStyle = this.ink.back;
        pen.fillRect(0, 0, pane.width, pane.height);
        pen.textBaseline = "middle";
        pen.font = FONT;
        for (let row = 0; row < this.layout.rows; row++) {
            const y = pane.rowTop(row);
            if (y > -ROW && y < pane.height) this.drawRow(row, y);
        }
        this.outline(pane.app.hover, this.ink.line, 1.5);
        this.outline(pane.app.focus, this.ink.focus, 2.5);
    }

    drawRow(row, y) {
        const {layout, pane, scale} = this, end = this.tree.level[row + 1];
        let runFrom = 0, runTo = -1; // pixels of small boxes side by side
        for (let i = firstBeyond(layout, row, pane.from); i < end && layout.start[i] < pane.to; i++) {
            const x = (layout.start[i] - pane.from) * scale, w = layout.width[i] * scale;
            if (w >= LEAST && !this.isUnread(i)) {
                this.drawBox(i, Math.max(0, x), Math.min(pane.width, x + w), y);
                continue;
            }
            if (x > runTo + LEAST) {
                this.drawRun(runFrom, runTo, y);
                runFrom = x;
            }
            // all that ends within as much as a box must have is too small as well
            i = firstBeyond(layout, row, layout.start[i] + LEAST / scale, i + 1) - 1;
            runTo = (layout.start[i] + layout.width[i] - pane.from) * scale;
        }
        this.drawRun(runFrom, runTo, y);
    }

    isUnread(i) {
        return this.frames.kind[this.tree.frame[i]] >= KIND_UNREAD;
    }

    drawRun(from, to, y) {
        if (to - from < LEAST) return;
        this.pen.globalAlpha = this.pane.app.lit ? 0.35 : 1;
        this.pen.fillStyle = this.ink.small;
        this.pen.fillRect(from, y + 5, to - from, ROW - GAP - 10);
        this.pen.globalAlpha = 1;
        this.boxes++;
    }

    fillOf(i) {
        const frame = this.tree.frame[i];
        if (this.tree.before) return changeColor(changeOfNode(this.tree, i));
        return functionColor(this.tree.profile, this.frames.owner[frame]);
    }

    drawBox(i, left, right, y) {
        const {pen, pane} = this, frame = this.tree.frame[i], match = pane.app.lit;
        const w = right - left - (right - left > 3 ? GAP : 0), h = ROW - GAP;
        const hit = match && match.hit[frame];
        pen.globalAlpha = match && !hit ? 0.28 : pane.isAbove(i) ? 0.45 : 1;
        pen.fillStyle = hit ? this.ink.match : this.fillOf(i);
        pen.beginPath();
        if (w > 6 && pen.roundRect) pen.roundRect(left, y, w, h, 2.5);
        else pen.rect(left, y, w, h);
        pen.fill();
        this.boxes++;
        if (this.frames.kind[frame] === KIND_PRUNED) {
            pen.fillStyle = this.patterns.pruned;
            pen.fill();
        }
        this.drawError(i, left, w, y, h);
        if (this.tree.inlined[i] && w > 3) this.drawInlined(left, w, y, h);
        const dim = match && !hit || pane.isAbove(i);
        pen.globalAlpha = 1;
        if (w >= 22) this.drawLabel(i, left, w, y, hit ? this.ink.matchText : dim ? this.ink.faint : this.ink.text);
    }

    // So much of the width stands in [~], where functions are not known: a hatched end.
    drawError(i, left, w, y, h) {
        const share = this.layout.width === this.tree.value && !isExact(this.tree, i)
            ? this.tree.hidden[i] / this.tree.value[i] : 0;
        const size = Math.min(1, share) * w;
        if (!(size >= 0.75)) return;
        this.pen.fillStyle = this.patterns.error;
        this.pen.fillRect(left + w - size, y, size, h);
    }

    drawInlined(left, w, y, h) {
        const {pen} = this;
        pen.strokeStyle = this.ink.text;
        pen.globalAlpha *= 0.45;
        pen.lineWidth = 1.5;
        pen.setLineDash([2, 2.5]);
        pen.beginPath();
        pen.moveTo(left + 1, y + h - 0.75);
        pen.lineTo(left + w - 1, y + h - 0.75);
        pen.stroke();
        pen.setLineDash([]);
    }

    drawLabel(i, left, w, y, color) {
        const {pen} = this, inlined = this.tree.inlined[i];
        const text = fitLabel(pen, this.tree.frame[i], w - 9);
        if (text === "") return;
        if (inlined) pen.font = "italic " + FONT;
        pen.fillStyle = color;
        pen.fillText(text, left + 5, y + (ROW - GAP) / 2 + 0.5);
        if (inlined) pen.font = FONT;
    }

    outline(at, color, weight) {
        const {pane, layout, pen} = this;
        if (!at || at.pane !== pane || at.node >= this.tree.n) return;
        const x = (layout.start[at.node] - pane.from) * this.scale;
        const left = Math.max(0, x), right = Math.min(pane.width, x + layout.width[at.node] * this.scale);
        if (right < 0 || left > pane.width || right < left) return;
        pen.strokeStyle = color;
        pen.lineWidth = weight;
        pen.strokeRect(left + weight / 2, pane.rowTop(this.tree.depth[at.node]) + weight / 2,
                       Math.max(1, right - left - GAP - weight), ROW - GAP - weight);
    }
}
