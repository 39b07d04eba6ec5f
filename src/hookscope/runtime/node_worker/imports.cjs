// Finds the imports of a source in its text: used only if an import failed or a name is missing.

"use strict";

const STATEMENT = /(?:^|[;}\n])\s*(import|export)\s+(type\s+)?([^;'"]*?)\s*\bfrom\s*(["'])(.*?)\4/g;
const BINDING = /((?:^|[;}\n])\s*)import\s+([\w$*{][^;'"()]*?)\s*\b(from\s*(["']).*?\4(?:\s*with\s*\{[^}]*\})?)/g;
const OWN = "(?<![\\w$]|(?<!\\.\\.)\\.)"; // before a name that is not a member of something; `...x` is x
const NAMES = new RegExp(`${OWN}[\\w$]+`, "g");
const BARE = /(?:^|[;}\n])\s*import\s*(["'])(.*?)\1/g;

// After these, a `/` starts a regular expression; after everything else, it divides.
const BEFORE = "(?<=(?:^|[(,=:;!&|?{}[+*%~^<>-]|\\b(?:return|typeof|case|in|of|do|else|void|throw|delete|await|yield))\\s*)";
const REGEXP = `${BEFORE}(?<!(?:\\+\\+|--)\\s*)\\/(?![*/])(?:\\\\.|\\[(?:\\\\.|[^\\]\\\\\\n])*\\]|[^/\\\\[\\n])+\\/`;
const STRING = "\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'";
const TOKEN = new RegExp(`${STRING}|(\\/\\*[^]*?\\*\\/|\\/\\/[^\\n]*)|${REGEXP}|[\`{}]`, "g");
const TEMPLATE = /(?:\\[^]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y; // its text up to its end or to code in it

const blank = (text) => text.replace(/[^\n]/g, " ");

/** Return the source with comments replaced by as many spaces. Strings are kept. */
function withoutComments(source) {
  let [result, done] = ["", 0];
  const braces = []; // for each open template, the number of open braces in its code
  const [tokens, template] = [new RegExp(TOKEN), new RegExp(TEMPLATE)];
  for (let match = tokens.exec(source); match; match = tokens.exec(source)) {
    const [token, comment] = match;
    if (comment) {
      result += source.slice(done, match.index) + blank(comment);
      done = tokens.lastIndex;
    }
    if (token === "{" && braces.length) braces[braces.length - 1] += 1;
    const isBack = token === "}" && braces.length > 0 && (braces[braces.length - 1] -= 1) < 0;
    if (isBack) braces.pop();
    if (token !== "`" && !isBack) continue;
    template.lastIndex = tokens.lastIndex;
    if (template.exec(source)[0].endsWith("${")) braces.push(0);
    tokens.lastIndex = template.lastIndex;
  }
  return result + source.slice(done);
}

/**
 * Return the names that the statements of a source import from a specifier: "default" for the default, and for
 * `* as x` the used members of x. Null if no statement imports it: it is imported at run time.
 */
function namesImported(source, specifier) {
  const text = withoutComments(source);
  let found = false;
  const names = new Set();
  for (const [, word, isType, clause, , from] of text.matchAll(STATEMENT)) {
    if (from !== specifier || isType) continue;
    found = true;
    for (const name of namesIn(clause, word, text)) names.add(name);
  }
  for (const [, , from] of text.matchAll(BARE)) found ||= from === specifier;
  return found ? [...names] : null;
}

/** Return the specifiers that a source imports or re-exports by statements. */
function importedByStatements(source) {
  const text = withoutComments(source);
  const named = [...text.matchAll(STATEMENT)].filter(([, , isType]) => !isType).map((match) => match[5]);
  return [...named, ...[...text.matchAll(BARE)].map((match) => match[2])];
}

/** `a, { b, c as d, type E }`, `* as x` */
function namesIn(clause, word, text) {
  const rest = clause.replace(/\{[^]*\}/, "").trim();
  const names = word === "import" && /^[\w$]+/.test(rest) ? ["default"] : [];
  const inBraces = /\{([^]*)\}/.exec(clause);
  for (const part of inBraces ? inBraces[1].split(",") : []) {
    const [name] = part.trim().split(/\s+as\s+/);
    if (name && !/^type\s+[\w$]/.test(name)) names.push(name.replace(/^["']|["']$/g, ""));
  }
  const space = /\*\s*as\s+([\w$]+)/.exec(rest);
  if (space && word === "import") {
    const used = new RegExp(`${OWN}${space[1].replaceAll("$", "\\$")}\\s*\\??\\.\\s*([\\w$]+)`, "g");
    for (const [, name] of text.matchAll(used)) names.push(name);
  }
  return names;
}

/**
 * Return the JavaScript of a TypeScript source without unused imported names: they are types, which TypeScript
 * removes, together with imports that are then empty. Line numbers do not change.
 */
function withoutUnused(source) {
  const text = withoutComments(source);
  const used = new Set(text.replace(BINDING, (all, before) => before).match(NAMES));
  let [result, done] = ["", 0];
  for (const match of text.matchAll(BINDING)) {
    const [all, before, clause, rest] = match;
    const bindings = bindingsIn(clause);
    const kept = bindings.filter(({ name }) => used.has(name));
    if (kept.length === bindings.length) continue;
    const [start, end] = [match.index + before.length, match.index + all.length];
    const statement = text.slice(start, end);
    const lines = "\n".repeat(statement.split("\n").length - 1);
    result += source.slice(done, start) + (kept.length ? `import ${clauseOf(kept)} ${rest}${lines}` : blank(statement));
    done = end;
  }
  return result + source.slice(done);
}

/** `a, { b as c }`, `a, * as b` */
function bindingsIn(clause) {
  const inBraces = /\{([^]*)\}/.exec(clause);
  const outside = clause.replace(/\{[^]*\}/, "").split(",");
  const listed = (inBraces ? inBraces[1].split(",") : []).map((part) => ({ part, isListed: true }));
  return [...outside.map((part) => ({ part, isListed: false })), ...listed]
    .map(({ part, isListed }) => ({ text: part.trim(), name: part.trim().split(/\s+as\s+/).at(-1), isListed }))
    .filter(({ text }) => text);
}

function clauseOf(bindings) {
  const listed = bindings.filter(({ isListed }) => isListed).map(({ text }) => text);
  const outside = bindings.filter(({ isListed }) => !isListed).map(({ text }) => text);
  return [...outside, ...(listed.length ? [`{ ${listed.join(", ")} }`] : [])].join(", ");
}

/** True if the source uses this name without declaring it. */
function usesUndeclared(source, name) {
  if (!source.includes(name)) return false;
  const text = withoutComments(source);
  const declared = new RegExp(
    `\\b(?:const|let|var|function|class|import)\\b[^;=()]*?(?<![\\w$.])${name}(?![\\w$])`,
  );
  return new RegExp(`${OWN}${name}(?![\\w$:])`).test(text) && !declared.test(text);
}

/** True if the source has statements that only modules may have. */
function isModuleText(source) {
  const text = withoutComments(source);
  const statement = /(?:^|[;}\n])\s*(?:import\s*[\w{*"'$]|export\s+[\w{*]|export\s*[{*])/;
  return statement.test(text) || text.includes("import.meta");
}

/**
 * Return the source of a module as the body of a function, with each token at its position: for finding syntax
 * errors, not for running it.
 */
function asScript(source) {
  const blanked = (all, before, rest) => before + blank(rest);
  const listed = (all, before, space) => `${before}${space}0,`.padEnd(all.length);
  return withoutComments(source)
    .replace(/(^|[;}\n])(\s*(?:import|export)\s+[^;'"()]*?\bfrom\s*(["']).*?\3)/g, blanked)
    .replace(/(^|[;}\n])(\s*import\s*(["']).*?\3)/g, blanked)
    .replace(/(^|[;}\n])(\s*)export\s+default\b/g, listed)
    .replace(/(^|[;}\n])(\s*)export(?=\s+(?:const|let|var|function|class|async)\b)/g, "$1$2      ")
    .replace(/(^|[;}\n])(\s*export\s*\{[^}]*\})/g, blanked);
}

module.exports = {
  withoutComments, namesImported, importedByStatements, withoutUnused, usesUndeclared, isModuleText, asScript,
};
