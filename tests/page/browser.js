// browser.js - a page in headless Chromium, and all that it complains of.
"use strict";
const {chromium} = require("playwright-core");

// [{page, complaints}] of one browser; `scheme` is light or dark.
async function open(browser, url, scheme = "light", until = "load") {
    const context = await browser.newContext({viewport: {width: 1440, height: 860}, colorScheme: scheme});
    const page = await context.newPage(), complaints = [];
    page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.stack));
    page.on("dialog", (dialog) => {
        complaints.push(`a script of a name ran: ${dialog.message()}`);
        dialog.dismiss();
    });
    page.on("request", (request) => {
        if (url.startsWith("file:") && !/^(file|data):/.test(request.url())) complaints.push(request.url());
    });
    await page.goto(url, {waitUntil: until});
    return {page, complaints};
}

function launch(path) {
    return chromium.launch({executablePath: path, args: ["--no-sandbox", "--disable-gpu",
        "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]});
}

// Where a frame's widest box is on the screen.
function placeOf(page, label) {
    return page.evaluate((name) => {
        const pane = hcct.panes[hcct.panes.length - 1], {tree, start, width} = pane.layout;
        const {label: labels} = hcct.profile.frames, scale = pane.width / (pane.to - pane.from);
        let best = -1;
        for (let i = 0; i < tree.n; i++) {
            if (labels[tree.frame[i]] === name && (best < 0 || width[i] > width[best])) best = i;
        }
        const box = pane.canvas.getBoundingClientRect();
        return {node: best, x: box.left + (start[best] + width[best] / 2 - pane.from) * scale,
                y: box.top + pane.rowTop(tree.depth[best]) + 10};
    }, label);
}

// All contexts are read, of whatever was shown first.
function whole(page) {
    return page.waitForFunction(() => hcct.profile && !hcct.profile.isOverview, null, {timeout: 60000});
}

module.exports = {launch, open, placeOf, whole};
