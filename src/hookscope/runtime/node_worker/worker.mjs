// The worker: a program that runs JavaScript and TypeScript handlers for a Hookscope process that
// supervises it. The counterpart of ../python_worker/worker.py.
//
//     node worker.mjs CACHE_DIR READ WRITE CONTROL
//
// READ, WRITE and CONTROL are the descriptors of the protocol; CACHE_DIR is a folder for compiled code, or "".
// Descriptors 0, 1 and 2 belong to the handlers. The worker has no time limits of its own: the host kills it
// if a handler takes too long. If the host goes away, the worker ends itself and what its handlers started.

import module from "node:module";

const [cache, ...descriptors] = process.argv.slice(2);
if (cache) module.enableCompileCache(cache); // before any of our files or handlers is loaded
// The other files are CommonJS, which Node loads in half the time: each command starts a worker.
const { main } = module.createRequire(import.meta.url)("./main.cjs");
await main(...descriptors);
