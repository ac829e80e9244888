// overview.js - of a large profile, the contexts that are wide enough to be seen come first (page_overview.h), and are
// shown until all are read.

const OF_ALL = ["setMode", "around", "addStep", "searchFor", "choose", "nextMatch"];

// The first of two objects: is there a picture of it as it would be of all?
function showsOverview(app, first) {
    return first.overview !== undefined && app.mode === "down" && app.steps.length === 0 && app.search.text === "";
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
