// metrics.js - what contexts weigh. Processes that count different things are not added up: where there
// are several metrics, a live page offers those that are there, and shows one.

// As hcctd names them (the parameter collector), in the order in which they are offered; with the type
// that a profile of each has.
const METRICS = {
    walks: {type: "cpu", text: "CPU time"},
    wall: {type: "wall", text: "Wall-clock time"},
    wait: {type: "wait", text: "Time off the processor"},
    calls: {type: "calls", text: "Calls"},
    lock: {type: "delay", text: "Waiting for locks"},
    "lock-waits": {type: "contentions", text: "Waits for locks"},
    "lock-held": {type: "held_delay", text: "Others' waiting for locks"},
    alloc: {type: "alloc_space", text: "Allocated bytes"},
    "alloc-objects": {type: "alloc_objects", text: "Allocated blocks"},
    heap: {type: "inuse_space", text: "Bytes not freed"},
    faults: {type: "faults", text: "Page faults"},
    "heap-objects": {type: "inuse_objects", text: "Blocks not freed"},
};

function kindText(profile) {
    const known = Object.values(METRICS).find(({type}) => type === profile.type);
    return known ? known.text : profile.type || profile.unit;
}

// A file may have several profiles of one run, each of another metric: an element for each. All but the
// first one, and most of that where it is large, come behind the scripts.
class FileMetrics {
    constructor(app, state) {
        const first = JSON.parse(byId("data").textContent);
        Object.assign(this, {app, profiles: [], at: 0});
        if (showsOverview(app, first) && !state.has("metric")) app.setProfile(readOverview(first));
        document.addEventListener("DOMContentLoaded", () => this.read(first, state));
    }

    async read(first, state) {
        const rest = byId("rest"), others = [...document.querySelectorAll(".other-data")];
        const data = rest ? {...first, ...JSON.parse(rest.textContent)} : first;
        this.profiles = [rest ? await doCalmly(readInParts(data)) : readProfile(data),
                         ...others.map((e) => readProfile(JSON.parse(e.textContent)))];
        const select = byId("metric");
        select.hidden = others.length === 0;
        select.replaceChildren(...this.profiles.map((profile, i) => new Option(kindText(profile), i)));
        select.addEventListener("change", () => this.choose(Number(select.value)));
        this.show(this.find(state.get("metric")));
        afterPaint(() => this.app.prepareUp());
    }

    // By the type that its profile has; the first where there is no such.
    find(type) {
        return Math.max(0, this.profiles.findIndex((profile) => profile.type === type));
    }

    show(i) {
        this.at = i;
        byId("metric").value = i;
        this.app.setProfile(this.profiles[i]);
    }

    choose(i) {
        this.show(i);
        writeState(this.app, true);
    }

    // To the page's address.
    addTo(state) {
        if (this.at > 0) state.set("metric", this.profiles[this.at].type);
    }

    nextMetric() {
        if (this.profiles.length > 1) this.choose((this.at + 1) % this.profiles.length);
    }
}

class Metrics {
    constructor(live) {
        Object.assign(this, {asked: "", kinds: [], windowed: new Set()});
        byId("metric").addEventListener("change", () => {
            this.asked = byId("metric").value;
            live.change();
        });
    }

    // Those of the processes that are asked for.
    show(processes) {
        const known = Object.keys(METRICS), found = new Set(processes.map((p) => p.kind));
        this.kinds = [...known.filter((kind) => found.has(kind)), ...[...found].filter((kind) => !known.includes(kind))];
        this.windowed = new Set(processes.filter((p) => p.windows).map((p) => p.kind));
        const select = byId("metric"), key = this.kinds.join();
        select.hidden = this.kinds.length < 2;
        if (key !== this.listed) {
            this.listed = key;
            select.replaceChildren(...this.kinds.map((kind) => new Option((METRICS[kind] || {text: kind}).text, kind)));
        }
        select.value = this.shown();
    }

    // The one that was asked for, if it is there; "": nothing is there.
    shown() {
        return this.kinds.includes(this.asked) ? this.asked : this.kinds[0] || "";
    }

    // Is there anything but what has been counted since the start?
    keepsWindows() {
        return this.kinds.length === 0 || this.windowed.has(this.shown());
    }

    next() {
        if (this.kinds.length < 2) return false;
        this.asked = this.kinds[(this.kinds.indexOf(this.shown()) + 1) % this.kinds.length];
        return true;
    }
}
