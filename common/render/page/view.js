// view.js - a pane: one tree on one canvas, zoomed and scrolled.

const ZOOM_MS = 130;

class Pane {
    constructor(app, host, name, flip) {
        Object.assign(this, {app, name, flip, zoom: 0, from: 0, to: 1, width: 0, height: 0});
        this.scroller = host.appendChild(document.createElement("div"));
        this.scroller.className = "pane";
        this.sizer = this.scroller.appendChild(document.createElement("div"));
        this.canvas = this.sizer.appendChild(document.createElement("canvas"));
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("role", "application");
        this.canvas.setAttribute("aria-roledescription", "flame graph");
        this.pen = this.canvas.getContext("2d", {alpha: false});
        this.scroller.addEventListener("scroll", () => this.redraw(), {passive: true});
        this.observer = new ResizeObserver(() => this.followSize());
        this.observer.observe(this.scroller);
        listenToPointer(this);
    }

    close() {
        this.observer.disconnect();
        this.scroller.remove();
        this.layout = null;
    }

    setLayout(layout, zoom) {
        this.layout = layout;
        this.zoom = Math.min(zoom, layout.tree.n - 1);
        [this.from, this.to] = this.rangeOf(this.zoom);
        this.animation = null;
        this.resize();
        this.redraw();
    }

    // There is more of the same tree: what is there stays where it is, or on its way.
    addLayout(layout, zoom) {
        const {from, to, animation} = this;
        this.setLayout(layout, zoom);
        Object.assign(this, {from, to, animation});
    }

    // An empty node has no range to zoom to: that of all is taken.
    rangeOf(node) {
        const {start, width, total} = this.layout;
        return width[node] > 0 ? [start[node], start[node] + width[node]] : [0, total || 1];
    }

    get contentHeight() {
        return this.layout.rows * ROW + 6;
    }

    // What is drawn stays to be drawn again.
    resize() {
        const {scroller, canvas, sized} = this;
        if (!this.layout) return;
        const atEnd = this.flip && (!sized || scroller.scrollTop + sized.height >= sized.content - 2);
        scroller.style.height = `${this.contentHeight + 2}px`; // wished for; the style sheet decides
        this.height = scroller.clientHeight;
        if (this.height === 0 || scroller.clientWidth === 0) {
            this.width = 0;
            return;
        }
        const content = Math.max(this.contentHeight, this.height), ratio = devicePixelRatio;
        this.sizer.style.height = `${content}px`;
        this.width = scroller.clientWidth; // now with or without a scroll bar
        const w = Math.round(this.width * ratio), h = Math.round(this.height * ratio);
        if (canvas.width !== w || canvas.height !== h) {
            canvas.width = w;
            canvas.height = h;
            canvas.style.width = `${this.width}px`;
            canvas.style.height = `${this.height}px`;
        }
        this.sized = {width: this.width, height: this.height, content, ratio};
        if (atEnd) scroller.scrollTop = content;
    }

    // Somebody else has made it larger or smaller.
    followSize() {
        const {scroller, sized} = this;
        if (sized && sized.width === scroller.clientWidth && sized.height === scroller.clientHeight &&
            sized.ratio === devicePixelRatio) return;
        this.resize();
        this.drawNow();
    }

    rowTop(row) {
        const y = this.flip ? Math.max(this.contentHeight, this.height) - (row + 1) * ROW - 3 : row * ROW + 3;
        return Math.round(y - this.scroller.scrollTop);
    }

    rowAt(y) {
        const content = y + this.scroller.scrollTop;
        return this.flip ? Math.floor((Math.max(this.contentHeight, this.height) - content - 3) / ROW)
            : Math.floor((content - 3) / ROW);
    }

    // Is it one of those that the zoomed node is called by?
    isAbove(node) {
        return this.layout.tree.depth[node] < this.layout.tree.depth[this.zoom];
    }

    // The box at a place, {pane, node, run}: run is how many boxes too small to draw are there.
    hit(x, y) {
        if (!this.layout || x < 0 || x >= this.width) return null;
        const {layout} = this, scale = (this.to - this.from) / this.width, row = this.rowAt(y);
        const node = nodeAt(layout, row, this.from + x * scale);
        if (node < 0) return null;
        const end = layout.tree.level[row + 1];
        let run = 0;
        if (layout.width[node] < LEAST * scale) {
            for (let i = node; i < end && layout.width[i] < LEAST * scale &&
                layout.start[i] < this.from + (x + 1) * scale; i++) run++;
        }
        return {pane: this, node, run};
    }

    redraw() {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => this.drawNow());
    }

    drawNow() {
        cancelAnimationFrame(this.frame);
        this.frame = 0;
        if (!this.layout || this.width === 0) return;
        const begin = performance.now();
        this.animate(begin);
        const drawing = new Drawing(this, this.pen);
        drawing.draw();
        if (!this.app.drawn) performance.mark("hcct-drawn", {detail: this.app.profile.nodes.n});
        this.app.drawn = {ms: performance.now() - begin, boxes: drawing.boxes};
    }

    animate(now) {
        const move = this.animation;
        if (!move) return;
        const part = Math.min(1, (now - move.begin) / ZOOM_MS), eased = 1 - (1 - part) ** 3;
        this.from = move.from[0] + (move.to[0] - move.from[0]) * eased;
        this.to = move.from[1] + (move.to[1] - move.from[1]) * eased;
        if (part < 1) this.redraw();
        else this.animation = null;
    }

    zoomTo(node) {
        const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        this.zoom = node;
        const target = this.rangeOf(node);
        if (calm) [this.from, this.to] = target;
        else this.animation = {begin: performance.now(), from: [this.from, this.to], to: target};
        this.show(node);
        this.redraw();
    }

    // Scrolls so that a node's row, and some of what it calls, is in sight.
    show(node) {
        const row = this.layout.tree.depth[node], top = this.rowTop(row), room = 3 * ROW;
        let by = 0;
        if (this.flip) {
            if (top < room) by = top - room;
            else if (top > this.height - ROW) by = top - this.height + 2 * ROW;
        } else if (top + ROW > this.height - room) {
            by = top + ROW - this.height + room;
        } else if (top < 0) {
            by = top - ROW;
        }
        if (by !== 0) this.scroller.scrollTop += by;
    }
}
