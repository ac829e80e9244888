// parts.js - long work in parts: a generator that yields after each, and returns what it has made.

function doAll(parts) {
    for (;;) {
        const {done, value} = parts.next();
        if (done) return value;
    }
}

// Keys, clicks and pictures come in between; null: nobody wants it any more.
async function doCalmly(parts, isWanted = () => true) {
    while (isWanted()) {
        const {done, value} = parts.next();
        if (done) return value;
        await new Promise((go) => setTimeout(go));
    }
    return null;
}

// While nobody waits for anything; where a browser does not say when that is, not at all.
function doWhenIdle(parts, then) {
    if (!window.requestIdleCallback) return;
    requestIdleCallback((deadline) => {
        do {
            const {done, value} = parts.next();
            if (done) return then(value);
        } while (deadline.timeRemaining() > 1);
        return doWhenIdle(parts, then);
    });
}
