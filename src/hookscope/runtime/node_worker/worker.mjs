// The worker: a program that runs JavaScript and TypeScript handlers, one at a time, for a Hookscope
// that supervises it. The twin of ../python_worker/worker.py.
//
//     node worker.mjs CACHE_DIR READ WRITE CONTROL
//
// READ, WRITE and CONTROL are the descriptors of the protocol; CACHE_DIR keeps compiled code, or is "".
// Descriptors 0, 1 and 2 belong to the handlers. It has no limits of its own: whoever started it kills
// it when a handler takes too long. When the host goes away, it ends itself and what its handlers started.

import module from "node:module";

const [cache, ...descriptors] = process.argv.slice(2);
if (cache) module.enableCompileCache(cache); // before anything of ours, or of the handlers, is loaded
// Its parts are CommonJS: Node loads them in half the time, and a worker is started for every command.
const { main } = module.createRequire(import.meta.url)("./main.cjs");
await main(...descriptors);
