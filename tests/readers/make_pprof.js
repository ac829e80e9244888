/* make_pprof.js KIND FILE - a profile as another tool makes it: huge (weights beyond 53 bits), deep
 * (one stack of 1,000 frames), none (no sample at all). Prints how many samples it has. */
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const { Profile, StringTable, ValueType, Sample, Location, Line, Function } =
    require('pprof-format');

function stacks(kind) {
    if (kind === 'huge')
        return [[['main', 'a'], 2n ** 62n + 1n], [['main', 'b'], 2n ** 61n + 3n],
            [['main', 'c'], 5n]];
    if (kind === 'deep')
        return [[['main', ...Array(998).fill('descend'), 'bottom'], 1000n]];
    return [];
}

function write(kind, file) {
    const strings = new StringTable();
    const ids = new Map();
    const location = [], functions = [];
    const type = new ValueType({ type: strings.dedup('calls'), unit: strings.dedup('count') });

    function id_of(name) {
        if (!ids.has(name)) {
            const id = ids.size + 1;

            ids.set(name, id);
            functions.push(new Function({ id, name: strings.dedup(name),
                systemName: strings.dedup(name) }));
            location.push(new Location({ id, address: 4096 + id,
                line: [new Line({ functionId: id })] }));
        }
        return ids.get(name);
    }

    const sample = stacks(kind).map(([path, weight]) => new Sample({
        locationId: path.map(id_of).reverse(), value: [weight] }));
    const profile = new Profile({ sampleType: [type], sample, location, function: functions,
        stringTable: strings, periodType: type, period: 1 });

    fs.writeFileSync(file, zlib.gzipSync(profile.encode()));
    return sample.length;
}

console.log(JSON.stringify(write(...process.argv.slice(2))));
