// state.js - what is shown, as the part of the page's address behind the #, so that it can be handed on
// and gone back to.

const stepWord = ({kind, name, module}) => [kind, name, module].map(encodeURIComponent).join(",");

// null: somebody has written it by hand, and not well.
function readStep(word) {
    try {
        const [kind, name, module] = word.split(",").map(decodeURIComponent);
        return Object.hasOwn(STEP_KINDS, kind) ? {kind, name: name || "", module: module || ""} : null;
    } catch (error) {
        if (error instanceof URIError) return null;
        throw error;
    }
}

// `anew`: the browser's "back" leads to what was there before.
function writeState(app, anew) {
    const state = new URLSearchParams(), {live} = app;
    if (app.mode === "up") state.set("mode", app.mode);
    if (app.flip) state.set("flip", "1");
    if (app.search.text !== "") state.set(app.search.regex ? "regex" : "search", app.search.text);
    if (app.steps.length > 0) state.set("steps", app.steps.map(stepWord).join(";"));
    if (live || app.file) (live || app.file).addTo(state);
    const text = state.toString();
    if (text === location.hash.slice(1)) return;
    const address = text === "" ? location.pathname + location.search : `#${text}`;
    if (anew) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
}

function readState(app) {
    const state = new URLSearchParams(location.hash.slice(1));
    app.mode = state.get("mode") === "up" ? "up" : "down";
    app.flip = state.get("flip") === "1";
    app.search = {text: state.get("regex") || state.get("search") || "", regex: state.has("regex")};
    byId("search").value = app.search.text;
    byId("regex").setAttribute("aria-pressed", String(app.search.regex));
    app.steps = (state.get("steps") || "").split(";").filter((w) => w !== "").map(readStep).filter((s) => s);
    return state;
}
