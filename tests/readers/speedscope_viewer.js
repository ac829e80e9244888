/* speedscope_viewer.js FILE... - opens profiles in speedscope itself, in a browser without a screen.
 * Prints as JSON what it shows of each: its title, the rows of its table of functions for the first
 * process, the profile as the viewer exports it again, and what it complained of. A picture of it
 * goes to FILE.png. */
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const { chromium } = require('playwright-core');

const files = process.argv.slice(2);
const page_path = require.resolve('speedscope/package.json').replace(/package\.json$/,
    'dist/release/index.html');

/* The viewer reads local profiles as scripts that hand it the bytes. */
function loader(directory, file) {
    const script = path.join(directory, 'load.js');
    const bytes = fs.readFileSync(file).toString('base64');

    fs.writeFileSync(script, 'speedscope.loadFileFromBase64(' +
        JSON.stringify(path.basename(file)) + ', "' + bytes + '")');
    return script;
}

async function exported(page) {
    const download = page.waitForEvent('download');

    await page.keyboard.press('Control+s');
    return JSON.parse(fs.readFileSync(await (await download).path(), 'utf8'));
}

/* In a page of its own: what the viewer makes of one file. */
async function view(browser, directory, file, screenshot) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const complaints = [];

    page.setDefaultTimeout(120000); /* of a slow machine */
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
        if (message.type() === 'error')
            complaints.push(message.text());
    });
    page.on('dialog', (dialog) => {
        complaints.push(dialog.message());
        dialog.dismiss();
    });
    const url = 'file://' + page_path + '#localProfilePath=' +
        encodeURIComponent(loader(directory, file).slice(1));

    await page.goto(url);
    await page.waitForFunction(() => document.title !== 'speedscope' ||
        document.body.innerText.includes('Something went wrong'));
    const title = await page.title();
    const text = await page.evaluate(() => document.body.innerText);
    await page.screenshot({ path: screenshot });
    if (text.includes('Something went wrong'))
        throw new Error(file + ': ' + complaints.join(' '));
    const again = await exported(page);
    await page.keyboard.press('3');
    await page.waitForSelector('table tr td', { state: 'attached' });
    const rows = await page.evaluate(() => [...document.querySelectorAll('table tr')].map(
        (row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)));
    await page.close();
    return { title, text, rows, exported: again, complaints };
}

async function main() {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'hcct-speedscope-'));
    const browser = await chromium.launch({
        executablePath: process.env.READERS_CHROMIUM,
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking',
            '--disable-component-update', '--disable-sync', '--no-first-run'],
    });
    const seen = [];

    try {
        for (const file of files)
            seen.push(await view(browser, directory, file, file + '.png'));
    } finally {
        await browser.close();
        fs.rmSync(directory, { recursive: true, force: true });
    }
    console.log(JSON.stringify(seen));
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
