// live.js - a page that a daemon served: asks it again and again, and says when it does not answer.

const REFRESH_MS = 2000, PATIENCE_MS = 10000;

class Live {
    constructor(app, state) {
        Object.assign(this, {app, pid: state.get("pid") || "", paused: false, processes: []});
        for (const id of ["process", "window", "pause", "live"]) byId(id).hidden = false;
        byId("process").addEventListener("change", () => this.change());
        byId("window").addEventListener("change", () => this.change());
        byId("pause").addEventListener("click", () => this.pause());
        this.strip = new Strip(this);
        this.strip.read(state);
    }

    start() {
        this.ask(this.asking = 1);
    }

    pause() {
        this.paused = !this.paused;
        byId("pause").setAttribute("aria-pressed", String(this.paused));
        this.say(this.paused ? "paused" : "", "");
        this.next(0);
    }

    // What is asked for is now something else: an answer on its way is of no use.
    change() {
        this.pid = byId("process").value;
        writeState(this.app);
        this.asking = (this.asking || 0) + 1;
        this.ask(this.asking);
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
        const answer = await fetch(path, {cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS)});
        const text = await answer.text();
        if (answer.ok) return JSON.parse(text);
        throw Object.assign(new Error(text.trim() || `status ${answer.status}`), {answered: true});
    }

    async ask(number) {
        try {
            const list = await this.get("/v1/processes");
            if (number !== this.asking) return;
            this.list(list.processes);
            this.strip.show(await this.get(`/v1/timeline?${this.who()}`));
            const data = await this.get(`/v1/hot?${this.query()}`);
            if (number !== this.asking) return;
            this.app.setProfile(readProfile(data));
            this.say(this.paused ? "paused" : `live, ${new Date().toLocaleTimeString()}`, "good");
        } catch (error) {
            if (number !== this.asking) return;
            this.fail(error);
        }
        this.next(REFRESH_MS);
    }

    who() {
        return new URLSearchParams(this.pid !== "" ? {pid: this.pid} : {});
    }

    query() {
        const query = this.who();
        query.set("format", "page-data");
        if (this.strip.addTo(query)) return query;
        if (byId("window").value !== "") query.set("window", byId("window").value);
        return query;
    }

    fail(error) {
        const text = error.answered ? error.message : "the daemon does not answer; trying again";
        this.say(error.answered ? "" : text, "bad");
        if (error.answered || !this.app.profile) this.app.say(text);
    }

    list(processes) {
        const running = processes.filter((process) => process.state === "live");
        const key = JSON.stringify(running.map((p) => [p.pid, p.command]));
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
