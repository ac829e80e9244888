// live.js - a page that a daemon served: asks it again and again, and says when it does not answer.

const REFRESH_MS = 2000, PATIENCE_MS = 10000;

class Live {
    constructor(app, state) {
        Object.assign(this, {app, paused: false, metrics: new Metrics(this), strip: new Strip(this)});
        for (const id of ["process", "window", "pause", "live"]) byId(id).hidden = false;
        byId("process").addEventListener("change", () => {
            this.pid = byId("process").value;
            this.change();
        });
        byId("window").addEventListener("change", () => this.change());
        byId("pause").addEventListener("click", () => this.pause());
        this.read(state);
    }

    // As addTo() has written it.
    read(state) {
        const window = byId("window"), span = state.get("window") || "";
        this.pid = state.get("pid") || "";
        this.metrics.asked = state.get("metric") || "";
        window.value = [...window.options].some((option) => option.value === span) ? span : "";
        this.strip.read(state);
    }

    // To the page's address.
    addTo(state) {
        if (this.pid !== "") state.set("pid", this.pid);
        if (this.metrics.asked !== "") state.set("metric", this.metrics.asked);
        if (byId("window").value !== "") state.set("window", byId("window").value);
        this.strip.addTo(state);
    }

    start() {
        this.asking = (this.asking || 0) + 1;
        this.ask(this.asking);
    }

    pause() {
        this.paused = !this.paused;
        byId("pause").setAttribute("aria-pressed", String(this.paused));
        this.say(this.paused ? "paused" : "", "");
        this.next(0);
    }

    // What is asked for is now something else: an answer on its way is of no use. The browser goes back to
    // what was asked for before.
    change() {
        writeState(this.app, true);
        this.start();
    }

    // Without a range there is nothing to compare: the time line is where one is chosen.
    compare() {
        if (this.strip.range()) this.strip.setSide("diff");
        else byId("strip-canvas").focus();
    }

    nextMetric() {
        if (this.metrics.next()) this.change();
    }

    next(ms) {
        clearTimeout(this.timer);
        if (!this.paused) this.timer = setTimeout(() => this.ask(this.asking), ms);
    }

    say(text, kind) {
        byId("live").textContent = text;
        byId("live").className = kind;
    }

    async get(path) {
        return JSON.parse(await this.getText(path));
    }

    async getText(path) {
        const answer = await fetch(path, {cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS)});
        const text = await answer.text();
        if (answer.ok) return text;
        throw Object.assign(new Error(text.trim() || `status ${answer.status}`), {answered: true});
    }

    async ask(number) {
        try {
            const list = await this.get("/v1/processes");
            if (number !== this.asking) return;
            this.list(list.processes);
            this.metrics.show(list.processes.filter((p) => this.pid === "" || String(p.pid) === this.pid));
            const past = this.metrics.keepsWindows();
            byId("strip").hidden = byId("window").hidden = !past;
            const asked = this.getText(`/v1/hot?${this.query()}`);
            asked.catch(() => {}); // until it is waited for
            const line = past ? await this.get(`/v1/timeline?${this.who()}`) : null;
            if (number !== this.asking) return;
            if (line) this.strip.show(line);
            const [first, rest] = (await asked).split("\n"), data = JSON.parse(first);
            if (number !== this.asking) return;
            if (rest) await this.preview(data);
            const parts = this.readInParts(rest ? {...data, ...JSON.parse(rest)} : data);
            // who looks at the last answer can go on meanwhile
            const profile = this.app.profile ? await doCalmly(parts) : doAll(parts);
            if (number !== this.asking) return;
            this.app.setProfile(profile);
            this.say(this.paused ? "paused" : `live, ${new Date().toLocaleTimeString()}`, "good");
        } catch (error) {
            if (number !== this.asking) return;
            this.fail(error);
        }
        this.next(REFRESH_MS);
    }

    // Of the first answer, what can be seen of it.
    async preview(data) {
        if (this.app.profile || !showsOverview(this.app, data)) return;
        this.app.setProfile(readOverview(data));
        await new Promise(afterPaint);
    }

    // With the tree that is shown, where that takes long.
    * readInParts(data) {
        const profile = yield* readInParts(data), {trees} = keptOf(profile, 0);
        if (this.app.mode === "up" && this.app.steps.length === 0) trees.up = yield* fineTreeUp(profile, 0);
        return profile;
    }

    who() {
        const who = new URLSearchParams(this.pid !== "" ? {pid: this.pid} : {}), kind = this.metrics.shown();
        if (kind !== "") who.set("collector", kind);
        return who;
    }

    query() {
        const query = this.who();
        query.set("format", "page-data");
        if (!this.metrics.keepsWindows() || this.strip.addTo(query)) return query;
        if (byId("window").value !== "") query.set("window", byId("window").value);
        return query;
    }

    // By which hcct is asked for the same processes.
    options() {
        const kind = this.metrics.shown() === "walks" ? "cpu" : this.metrics.shown();
        return (this.pid !== "" ? ` -p ${this.pid}` : "") +
            (this.metrics.kinds.length > 1 ? ` --metric ${kind}` : "");
    }

    fail(error) {
        const text = error.answered ? error.message : "the daemon does not answer; trying again";
        this.say(error.answered ? "" : text, "bad");
        if (error.answered || !this.app.profile) this.app.say(text);
    }

    list(processes) {
        const running = processes.filter((process) => process.state === "live");
        const key = JSON.stringify([this.pid, ...running.map((p) => [p.pid, p.command])]);
        if (key === this.listed) return;
        this.listed = key;
        const select = byId("process");
        select.replaceChildren(new Option("all processes", ""), ...running.map((p) =>
            new Option(`${visibleText(p.command || baseName(p.exe))} (pid ${p.pid})`, String(p.pid))));
        select.value = this.pid;
        if (select.value === this.pid) return;
        select.append(new Option(`pid ${this.pid} (gone)`, this.pid));
        select.value = this.pid;
    }
}
