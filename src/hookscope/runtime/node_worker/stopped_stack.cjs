// Inspects a stopped handler: frames, variables, expressions. See StoppedStack in ../python_worker/debugger.py.

"use strict";

const VARIABLES = 60;
const MEMBERS = 200; // of one value
const VARIABLE = 300; // characters of one value's text
const ANSWER = 16 * 1024; // characters of the answer to an expression
const OWN_SCOPES = ["local", "block", "catch", "with"];
const MODULE_SCOPES = ["closure", "module", "script"]; // a CommonJS module is a closure
const AS_TEXT = `function () {
  return process.getBuiltinModule("node:util").inspect(this, { depth: 4, breakLength: 100 });
}`;
const GONE = "this frame awaits another one, so its variables are not available";

/** The stack of a stopped handler, and its selected frame. */
class StoppedStack {
  /** `post` calls the inspector. `frames`: outermost first; those that only wait have no `callFrameId`. */
  constructor(post, frames) {
    this.post = post;
    this.frames = frames;
    this.at = frames.length - 1;
    this.isTouched = false; // an expression may have changed variables, which the inspector read at the stop
  }

  get selected() {
    return this.frames[this.at];
  }

  select(at) {
    this.at = Math.min(Math.max(at, 0), this.frames.length - 1);
  }

  /** [[name, text]] of the function's own variables. */
  async variables() {
    return (await this.values()).map(([name, value]) => [name, inShort(value).slice(0, VARIABLE)]);
  }

  /** [[name, value]] of the variables in these scopes; of equal names, the innermost. */
  async values(scopes = OWN_SCOPES) {
    const { scopeChain = [] } = this.selected;
    const found = new Map();
    for (const { type, object } of scopeChain) {
      if (!scopes.includes(type) || found.size >= VARIABLES) continue;
      for (const [name, value] of await this.ownMembers(object)) if (!found.has(name)) found.set(name, value);
    }
    for (const name of this.isTouched ? found.keys() : []) {
      const answer = await this.evaluated(name, { generatePreview: true });
      if (!answer.exceptionDetails) found.set(name, answer.result);
    }
    return [...found].slice(0, VARIABLES);
  }

  /** [[name, value]] of an object's members, without getters. */
  async ownMembers({ objectId }) {
    const { result, internalProperties = [] } = await this.post("Runtime.getProperties", {
      objectId,
      ownProperties: true,
      generatePreview: true,
    });
    const inside = internalProperties.filter(({ name }) => name === "[[Entries]]");
    const named = [...result.filter(({ enumerable, name }) => enumerable || name === "message"), ...inside];
    return named.filter(({ value }) => value).map(({ name, value }) => [name, value]);
  }

  /** [[name, text, has members, type]], see `members` of StoppedStack. */
  async members(path, ofModule) {
    let known = await this.values(ofModule ? MODULE_SCOPES : OWN_SCOPES);
    for (const number of path) {
      const value = known[number]?.[1];
      if (!value?.objectId) return [];
      known = (await this.ownMembers(value)).slice(0, MEMBERS);
    }
    return known.map(([name, value]) => {
      return [name, inShort(value).slice(0, VARIABLE), hasMembers(value), value.className ?? value.subtype ?? value.type];
    });
  }

  evaluated(expression, more = {}) {
    return this.post("Debugger.evaluateOnCallFrame", { callFrameId: this.selected.callFrameId, expression, ...more });
  }

  /** {said, failed}: the value of an expression, or the error that it throws. */
  async answer(text) {
    if (!this.selected.callFrameId) return { said: GONE, failed: true };
    await this.post("Debugger.setSkipAllPauses", { skip: true });
    try {
      this.isTouched = true;
      const answer = await this.evaluated(text);
      const failed = Boolean(answer.exceptionDetails);
      const said = failed ? errorIn(answer.exceptionDetails.exception) : await this.laidOut(answer.result);
      return { said: said.slice(0, ANSWER), failed };
    } finally {
      await this.post("Debugger.setSkipAllPauses", { skip: false });
    }
  }

  async laidOut(result) {
    if (!result.objectId) return inShort(result);
    const { result: text } = await this.post("Runtime.callFunctionOn", {
      objectId: result.objectId,
      functionDeclaration: AS_TEXT,
      returnByValue: true,
    });
    return typeof text.value === "string" ? text.value : inShort(result);
  }
}

/** "TypeError: x is not a function" of what was thrown. */
function errorIn(thrown) {
  if (!thrown) return "an error";
  return thrown.subtype === "error" ? thrown.description.split(/\n {4}at /)[0] : `thrown: ${inShort(thrown)}`;
}

function hasMembers({ objectId, type, preview }) {
  return Boolean(objectId) && type === "object" && !(preview && !preview.properties.length && !preview.entries?.length);
}

/** A value of the inspector as text on one line. */
function inShort({ type, subtype, value, unserializableValue, description, preview }) {
  if (type === "string") return JSON.stringify(value);
  if (unserializableValue) return unserializableValue;
  if (type === "undefined") return "undefined";
  if (subtype === "null" || type === "boolean" || type === "number") return String(value);
  if (type === "function") return /^class\b/.test(description) ? "class" : "function";
  if (!preview || subtype === "error") return String(description ?? type).split("\n")[0];
  const isList = subtype === "array";
  const members = preview.properties.map(({ name, value: text, type: kind }) => {
    const shown = kind === "string" ? JSON.stringify(text) : text || kind;
    return isList ? shown : `${name}: ${shown}`;
  });
  if (preview.overflow) members.push("…");
  const name = ["Object", "Array"].includes(preview.description.replace(/\(\d+\)$/, "")) ? "" : `${preview.description} `;
  return isList ? `${name}[${members.join(", ")}]` : `${name}{${members.join(", ")}}`;
}

module.exports = { StoppedStack, errorIn };
