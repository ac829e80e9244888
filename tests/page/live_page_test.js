// live_page_test.js CHROMIUM URL PID DAEMON LARGE: watches a daemon's page for a while; prints what was seen.
"use strict";
const {launch, open, whole} = require(`${__dirname}/browser.js`);

// An answer of many contexts (the file `large`) in the place of the daemon's.
async function seeLarge(browser, url, large) {
    const {page, complaints} = await open(browser, "about:blank");
    await page.route("**/v1/hot?*", (route) => route.fulfill({path: large, contentType: "application/x-ndjson"}));
    await page.goto(url);
    await page.waitForFunction(() => window.hcct && hcct.profile, null, {timeout: 60000});
    await whole(page);
    const out = await page.evaluate(() => ({first: performance.getEntriesByName("hcct-drawn")[0].detail,
                                            all: hcct.profile.nodes.n}));
    await page.context().close();
    return {...out, complaints};
}

(async () => {
    const [path, url, pid] = process.argv.slice(2), browser = await launch(path), out = {};
    const {page, complaints} = await open(browser, url);
    await page.waitForFunction(() => hcct.profile && hcct.panes.length > 0, null, {timeout: 60000});
    out.first = await page.evaluate(() => hcct.profile.total);
    await page.selectOption("#process", pid);
    await page.fill("#search", "burn");
    await page.waitForFunction((n) => hcct.profile.total > n, out.first, {timeout: 60000});
    out.search = await page.evaluate(() => hcct.search.text);
    out.processes = await page.evaluate(() => hcct.profile.processes.map((p) => p.pid));
    await page.click("#pause");
    out.paused = await page.evaluate(() => hcct.live.paused);
    await page.click("#pause");
    out.large = await seeLarge(browser, url, process.argv[6]);
    out.complaints = [...complaints, ...out.large.complaints];
    process.kill(Number(process.argv[5]), "SIGKILL"); // the daemon
    await page.waitForFunction(() => document.getElementById("live").className === "bad", null, {timeout: 60000});
    out.gone = await page.textContent("#live");
    out.kept = await page.evaluate(() => hcct.panes.length);
    await browser.close();
    console.log(JSON.stringify(out));
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
