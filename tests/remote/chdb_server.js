// SPDX-License-Identifier: LGPL-3.0-or-later
// chdb_server.js - npm's chdb, a current ClickHouse in this process, behind as much of its HTTP
// interface as hcct speaks: chdb_server.js DIRECTORY PORT
const { Session } = require("chdb");
const http = require("http");

const session = new Session(process.argv[2]);

function run(statement, response) {
    try {
        const answer = session.query(statement, "TabSeparated");
        response.writeHead(200);
        response.end(answer || "");
    } catch (error) {
        response.writeHead(500);
        response.end(String(error));
    }
}

http.createServer((request, response) => {
    const parts = [];
    request.on("data", part => parts.push(part));
    request.on("end", () => run(Buffer.concat(parts).toString(), response));
}).listen(Number(process.argv[3]), "127.0.0.1");
