// overview.js - of a large profile, the contexts that are wide enough to be seen come first (page_overview.h), and are
// shown until all are read.

const OF_ALL = ["setMode", "around", "addStep", "searchFor", "choose", "nextMatch"];

// The first of two objects: is there a picture of it as it would be of all?
function showsOverview(app, first) {
    return first.overview !== undefined && app.mode === "down" && app.steps.length === 0 && app.search.text === "" &&
        app.chosen < 0 && !app.focus && app.panes.every((pane) => pane.zoom === 0);
}

function readOverview(first) {
    return readProfile({...first, ...first.overview, isOverview: true});
}

// While an overview is shown, what somebody asks of all contexts waits for them.
function makeWait(app) {
    for (const name of OF_ALL) {
        const act = app[name];
        app[name] = function (...what) {
            if (this.profile && this.profile.isOverview) this.waiting.push([act, what]);
            else act.apply(this, what);
        };
    }
}

function doWaiting(app) {
    for (const [act, what] of app.waiting.splice(0)) act.apply(app, what);
}

// An answer of one or two objects, each on a line, as one. `see` gets the first of two before the second one
// has come.
async function readAnswer(answer, see) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", first = null;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value;
        const end = first === null && part.value.includes("\n") ? text.indexOf("\n") : -1;
        if (end < 0) continue;
        first = JSON.parse(text.slice(0, end));
        text = text.slice(end + 1);
        if (first.overview) see(first);
    }
    return text === "" ? first : {...first, ...JSON.parse(text)};
}
