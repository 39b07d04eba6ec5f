// What else an agent of Eve consists of: its tools, and the agent itself with its scripted model.

"use strict";

const path = require("node:path");
const { scriptOf } = require("./definitions.cjs");
const { exportedOfBundle, NoHandler } = require("./picking.cjs");

const ISSUES = 8; // of one input, that are told

const { apply } = Reflect;
const alone = (handler) => ({ handlers: new Map([["", handler]]), module: null });

/** A tool's `execute(input, ctx)`. Throws NoHandler. */
function toolOf(namespace, code) {
  const tool = exportedOfBundle(namespace, code.export);
  const execute = tool?.execute;
  if (typeof execute !== "function") {
    const file = path.basename(code.path);
    throw new NoHandler(`${file} is not a tool: its ${code.export} export has no execute(input, ctx)`);
  }
  return alone((input, ctx) => apply(execute, tool, [input, ctx]));
}

/**
 * What a tool's own schema says to an input: {value}, as it reads it, or {issues} in words. Without a schema that
 * can be asked, the input itself.
 */
function inputOf(namespace, code) {
  const schema = exportedOfBundle(namespace, code.export)?.inputSchema?.["~standard"];
  if (typeof schema?.validate !== "function") return alone((value) => ({ value }));
  return alone(async (input) => {
    try {
      const { issues, value } = await apply(schema.validate, schema, [input]);
      return issues ? { issues: [...issues].slice(0, ISSUES).map(told).join("; ") } : { value };
    } catch (error) {
      return { issues: String(error?.message ?? error) }; // to its host an input that does not fit, too
    }
  });
}

function told({ message, path: at }) {
  const steps = (at ?? []).map((step) => String(step?.key ?? step));
  return steps.length ? `${steps.join(".")}: ${message}` : String(message);
}

/** The scripted model of an agent: a function of what it is asked. Throws NoHandler. */
async function agentOf(namespace, code) {
  const found = exportedOfBundle(namespace, code.export);
  const agent = typeof found === "function" ? await found() : found;
  const script = scriptOf(agent?.model);
  if (script) return alone(script);
  const file = path.basename(code.path);
  throw new NoHandler(`${file} has no scripted model: give it mockModel(…) of "eve/evals" as its model`);
}

module.exports = { toolOf, inputOf, agentOf };
