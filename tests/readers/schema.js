/* schema.js FILE - holds a file against speedscope's own JSON schema; prints what is wrong. */
'use strict';
const fs = require('fs');
const Ajv = require('ajv');

const schema = require(require.resolve('speedscope/package.json').replace(/package\.json$/,
    'dist/release/file-format-schema.json'));
const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);

validate(JSON.parse(fs.readFileSync(process.argv[2], 'utf8')));
console.log(JSON.stringify(validate.errors || []));
