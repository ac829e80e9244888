// screenshot.js CHROMIUM PAGE DIFF OUT: pictures of a profile's page and of a comparison's.
"use strict";
const {launch, open} = require(`${__dirname}/browser.js`);

(async () => {
    const [path, profile, diff, out] = process.argv.slice(2), browser = await launch(path);
    for (const [name, file, scheme] of [["page", profile, "light"], ["page-dark", profile, "dark"],
                                        ["diff", diff, "light"]]) {
        const {page} = await open(browser, `file://${file}`, scheme);
        await page.setViewportSize({width: 1280, height: 760});
        await page.evaluate(() => {
            const first = hcct.rows()[0];
            const {tree} = hcct.panes[0].layout;
            const node = tree.frame.findIndex((f) => hcct.profile.frames.owner[f] === first.function.id);
            if (node > 0) hcct.setFocus(hcct.panes[0], node);
        });
        await page.waitForTimeout(400);
        await page.screenshot({path: `${out}/${name}.png`});
    }
    await browser.close();
    console.log("{}");
})().catch((error) => {
    console.error(error);
    process.exit(1);
});
