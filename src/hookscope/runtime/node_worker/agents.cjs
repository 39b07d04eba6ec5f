// Other parts of an Eve agent: its tools, and the agent itself with its scripted model.

"use strict";

const path = require("node:path");
const { scriptOf } = require("./definitions.cjs");
const { exportedOfBundle, NoHandler } = require("./picking.cjs");

const ISSUES = 8; // that are reported for one input

const { apply } = Reflect;
const alone = (handler) => ({ handlers: new Map([["", handler]]), module: null });

/** Return a tool's `execute(input, ctx)`. Throws NoHandler. */
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
 * Return a function that checks an input with the tool's schema: {value} as the schema parses it, or {issues} in
 * words. Without a usable schema, it returns the input as the value.
 */
function inputOf(namespace, code) {
  const schema = exportedOfBundle(namespace, code.export)?.inputSchema?.["~standard"];
  if (typeof schema?.validate !== "function") return alone((value) => ({ value }));
  return alone(async (input) => {
    try {
      const { issues, value } = await apply(schema.validate, schema, [input]);
      return issues ? { issues: [...issues].slice(0, ISSUES).map(issueText).join("; ") } : { value };
    } catch (error) {
      return { issues: String(error?.message ?? error) }; // its host also rejects the input
    }
  });
}

function issueText({ message, path: at }) {
  const steps = (at ?? []).map((step) => String(step?.key ?? step));
  return steps.length ? `${steps.join(".")}: ${message}` : String(message);
}

/** Return the scripted model of an agent, a function of the request. Throws NoHandler. */
async function agentOf(namespace, code) {
  const found = exportedOfBundle(namespace, code.export);
  const agent = typeof found === "function" ? await found() : found;
  const script = scriptOf(agent?.model);
  if (script) return alone(script);
  const file = path.basename(code.path);
  throw new NoHandler(`${file} has no scripted model: set its model to mockModel(…) from "eve/evals"`);
}

module.exports = { toolOf, inputOf, agentOf };
