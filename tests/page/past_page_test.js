// past_page_test.js CHROMIUM URL PID SINCE UNTIL: asks a daemon's page what was different in a range of
// time, and for another metric; prints what was seen.
"use strict";
const {launch, open} = require(`${__dirname}/browser.js`);

const PATIENCE = {timeout: 60000};

// Where the cells of a range are on the screen: the first and the last one that begin in it.
function cellsOf(page, since, until) {
    return page.evaluate(([from, to]) => {
        const {strip} = hcct.live, places = strip.place(), box = strip.canvas.getBoundingClientRect();
        const finest = strip.cells.some((cell) => cell.lane.seconds === 2 && cell.since <= from) ? 2 : 60;
        const inside = strip.cells.flatMap((cell, i) =>
            (cell.lane.seconds === finest && cell.since >= from && cell.since < to ? [i] : []));
        const x = (i) => box.left + places[i].x + places[i].width / 2;
        return {finest, from: x(inside[0]), to: x(inside[inside.length - 1]), y: box.top + 10};
    }, [since, until]);
}

async function drag(page, {from, to, y}) {
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(to, y, {steps: 5});
    await page.mouse.up();
}

const isDiff = (page, wanted) => page.waitForFunction((is) => hcct.profile.isDiff === is, wanted, PATIENCE);

const kindIs = (page, type) => page.waitForFunction((t) => hcct.profile && hcct.profile.type === t, type, PATIENCE);

const shown = (page, id) => page.evaluate((name) => !document.getElementById(name).hidden, id);

async function seePast(page, since, until, out) {
    const cells = await cellsOf(page, since, until);
    out.seconds = cells.finest;
    await drag(page, cells);
    await page.waitForFunction(() => location.hash.includes("since="), null, PATIENCE);
    await page.evaluate(() => hcct.addStep("recursion"));
    out.steps = [await shown(page, "steps")];
    await page.click("#strip-diff");
    await isDiff(page, true);
    out.steps.push(await shown(page, "steps"));
    out.sorted = await page.getAttribute('#table-head [data-key="change"]', "aria-sort");
    await page.click('#table-head [data-key="totalChange"]');
    await page.click("#table-rows .row");
    out.guilty = await page.evaluate(() => hcct.profile.functions[hcct.chosen].name);
    out.changes = await page.evaluate(() => Object.fromEntries(hcct.rows()
        .filter((row) => row.totalChange.beyond).map((row) => [row.function.name, row.totalChange.change])));
    out.words = await page.textContent("#subtitle");
    out.command = await page.textContent("#strip-text");
    out.hash = new URL(page.url()).hash;
    await page.reload();
    await page.waitForFunction(() => hcct.profile && hcct.profile.isDiff, null, PATIENCE);
    out.reloaded = await page.evaluate(() => hcct.live.strip.side);
    await page.keyboard.press("v");
    await isDiff(page, false);
    out.toggled = await page.evaluate(() => hcct.live.strip.range() !== null);
    await page.goBack();
    await isDiff(page, true);
    await page.goBack();
    await isDiff(page, false);
    await page.goBack();
    await page.waitForFunction(() => hcct.live.strip.range() === null, null, PATIENCE);
    out.back = new URL(page.url()).hash;
}

async function seeMetrics(page, out) {
    await page.evaluate(() => { location.hash = ""; });
    await page.waitForFunction(() => !document.getElementById("metric").hidden, null, PATIENCE);
    out.metrics = await page.$$eval("#metric option", (options) => options.map((option) => option.value));
    await kindIs(page, "cpu");
    await page.selectOption("#metric", "calls");
    await kindIs(page, "calls");
    out.lineOfCalls = [await shown(page, "strip"), await shown(page, "window")];
    out.metricHash = new URL(page.url()).hash;
    await page.evaluate(() => document.activeElement.blur()); // a list keeps its keys
    await page.keyboard.press("M");
    await kindIs(page, "cpu");
    out.line = [await shown(page, "strip"), await shown(page, "window")];
    await page.goBack();
    await kindIs(page, "calls");
}

(async () => {
    const [path, url, pid, since, until] = process.argv.slice(2), browser = await launch(path), out = {};
    const {page, complaints} = await open(browser, `${url}#pid=${pid}`);
    await page.waitForFunction(() => hcct.profile && hcct.live.strip.cells.length > 0, null, PATIENCE);
    out.alone = await shown(page, "metric");
    await seePast(page, Number(since), Number(until), out);
    await seeMetrics(page, out);
    out.complaints = complaints;
    await browser.close();
    console.log(JSON.stringify(out));
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
