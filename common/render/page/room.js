// room.js - arrays for what a click needs. To fill a new one of some 100,000 numbers takes a system that has to find
// pages for it longer than to compute them, so a few are got while nobody waits.

const ROOM_FOR = [[Int32Array, 12], [Float64Array, 10], [Uint8Array, 4]]; // of one step and its tree
const ROOM_LEAST = 4096; // numbers; there is no need for less

const room = {length: 0, spare: new Map(ROOM_FOR.map(([type]) => [type, []]))};

// Zeroes.
function zeroes(type, length) {
    const spare = room.spare.get(type);
    if (length > room.length || length < ROOM_LEAST || spare.length === 0) return new type(length);
    return spare.pop().subarray(0, length);
}

function copyOf(column) {
    const copy = zeroes(column.constructor, column.length);
    copy.set(column);
    return copy;
}

// For columns of that many numbers: one array after the other, so that nobody has to wait for more than one.
function makeRoom(length) {
    if (!window.requestIdleCallback || length < ROOM_LEAST) return;
    if (length !== room.length) for (const arrays of room.spare.values()) arrays.length = 0;
    room.length = length;
    const add = () => {
        const missing = ROOM_FOR.find(([type, n]) => room.spare.get(type).length < n);
        room.isWaiting = missing !== undefined;
        if (!missing) return;
        const [type] = missing;
        room.spare.get(type).push(new type(room.length).fill(0));
        requestIdleCallback(add);
    };
    if (!room.isWaiting) requestIdleCallback(add);
    room.isWaiting = true;
}
