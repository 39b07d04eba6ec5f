// What else an agent of Eve consists of: its tools, and the agent itself with its scripted model.

import path from "node:path";
import { scriptOf } from "./definitions.mjs";
import { exportedOfBundle, NoHandler } from "./picking.mjs";

const { apply } = Reflect;
const alone = (handler) => ({ handlers: new Map([["", handler]]), module: null });

/** A tool's `execute(input, ctx)`. Throws NoHandler. */
export function toolOf(namespace, code) {
  const tool = exportedOfBundle(namespace, code.export);
  const execute = tool?.execute;
  if (typeof execute !== "function") {
    const file = path.basename(code.path);
    throw new NoHandler(`${file} is no tool: its ${code.export} export has no execute(input, ctx)`);
  }
  return alone((input, ctx) => apply(execute, tool, [input, ctx]));
}

/** The scripted model of an agent: a function of what it is asked. Throws NoHandler. */
export async function agentOf(namespace, code) {
  const found = exportedOfBundle(namespace, code.export);
  const agent = typeof found === "function" ? await found() : found;
  const script = scriptOf(agent?.model);
  if (script) return alone(script);
  const file = path.basename(code.path);
  throw new NoHandler(`${file} has no scripted model: give it mockModel(…) of "eve/evals" as its model`);
}
