const { Worker } = require("worker_threads");
const children = require("child_process");
const crypto = require("crypto");
const net = require("net");
const zlib = require("zlib");

let s = 0;
for (let i = 0; i < 3e6; i++) s = (s * 31 + i) % 1000003;
console.log(s);
const code = `const { parentPort } = require("worker_threads"); let s = 0;
    for (let i = 0; i < 1e6; i++) s = (s * 31 + i) % 1000003; parentPort.postMessage(s)`;

function worker() {
    return new Promise((done) => new Worker(code, { eval: true }).on("message", done));
}

function echo() {
    return new Promise((done) => {
        const server = net.createServer((c) => c.pipe(c)).listen(0, "127.0.0.1", () => {
            const client = net.connect(server.address().port, "127.0.0.1");
            let got = 0;
            client.on("data", (d) => { got += d.length; if (got === 3000000) client.end(); });
            client.on("close", () => server.close(() => done(got)));
            client.write(Buffer.alloc(3000000, 7));
        });
    });
}

process.on("SIGUSR2", () => console.log("usr2"));
process.kill(process.pid, "SIGUSR2");
(async () => {
    console.log(await Promise.all([worker(), worker(), worker()]));
    console.log(await echo());
    console.log(children.execSync("echo command").toString());
    console.log(children.spawnSync("sh", ["-c", "exit 5"]).status);
    console.log(zlib.gzipSync(Buffer.alloc(1e6)).length);
    console.log(crypto.pbkdf2Sync("a", "b", 20000, 16, "sha512").toString("hex"));
    await new Promise((done) => setTimeout(done, 200));
    console.error("the end");
    process.exit(3);
})();
