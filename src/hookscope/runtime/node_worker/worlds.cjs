// Which version of which hook a file belongs to, and what reaches what.
//
// A world is one content of one hook's folder: its `name` stands in the address of each of its
// modules (`handler.ts?t=NAME&hookscope`; hosts write `?t=TIME`), so that another content is another
// module. Files that hooks
// share (`../lib/x.ts`) stand under `shared`, which the host changes when one of them changes.

"use strict";

const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { absence } = require("./missing.cjs");

const PACKAGES = `${path.sep}node_modules${path.sep}`;
// Of an installed pack of hooks: the folder of its package.
const OWN_PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/]|$)/;
const FILES = 200; // of those that the host is told of

const queried = /\?t=([^&#]*)&hookscope$/;

/** {path, mark}: the file that an address names, and the name in it. */
function split(url) {
  const mark = queried.exec(url)?.[1] ?? "";
  const bare = mark ? url.slice(0, url.lastIndexOf("?")) : url;
  return { path: bare.startsWith("file:") ? fileURLToPath(bare) : "", mark: decodeURIComponent(mark) };
}

function addressOf(file, mark) {
  const url = pathToFileURL(file).href;
  return mark ? `${url}?t=${encodeURIComponent(mark)}&hookscope` : url;
}

/** Is it of an installed package, and not of the one that the hook itself is in? */
function isPackaged(file, root = "") {
  if (!file.includes(PACKAGES)) return false;
  const own = OWN_PACKAGE.exec(root)?.[0] ?? root;
  return !(own && isWithin(own, file) && !file.slice(own.length).includes(PACKAGES));
}

function isWithin(root, file) {
  return file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

class Worlds {
  constructor() {
    this.roots = new Map(); // root folder → the world it is now
    this.marks = new Map(); // mark → the world that came with it last
    this.edges = new Map(); // address → addresses of the files it imports
    this.recent = []; // files that were loaded since the present import began
    this.missing = new WeakMap(); // error → the file and the specifier whose import failed
    this.common = new Set(); // addresses of CommonJS modules
    this.required = new Set(); // modules that CommonJS required: Node keeps those by their path alone
    this.kept = ""; // one of them that has changed since, so that this process cannot load it anew
    this.stubs = new Map(); // address → specifier → names that were stubbed there, and how it is absent
    this.standIns = new Map(); // address → specifiers of schemas that accept everything there
    this.reloads = 0; // how often a folder's content was replaced: the older ones stay in memory
  }

  /**
   * Make this content of the folder the present one. Which files are to be forgotten for it.
   * `isPlain`: Node alone loads it, nothing is repaired, stubbed or transformed. `isOfEve`: Eve's
   * packages are ours, installed or not. `isOfPlugin`: its host leaves out imports that only types use.
   * `isStrict`: it repairs and transforms as we do, and brings its own SDK; what else is not installed is missing.
   */
  enter(root, name, shared, kind = {}) {
    const before = this.roots.get(root);
    const [isNew, isNewAround] = [before?.name !== name, !this.marks.has(shared)];
    if (before && isNew) this.reloads += 1;
    const world = { root, name, shared, isPlain: false, isOfEve: false, isOfPlugin: false, isStrict: false, ...kind };
    this.roots.set(root, world);
    this.marks.set(name, world);
    this.marks.set(shared, world);
    const isStale = (file) =>
      !isPackaged(file, root) && (isWithin(root, file) ? isNew : isNewAround && this.isOutside(file));
    if (before) this.kept ||= [...this.required].find(isStale) ?? "";
    return isStale;
  }

  /** Is it none of any hook's own files? */
  isOutside(file) {
    for (const root of this.roots.keys()) {
      if (isWithin(root, file)) return false;
    }
    return true;
  }

  /** The world that the importing file belongs to; null for those that are not of hooks. */
  of(url) {
    const { path: file, mark } = split(url);
    if (mark) return this.marks.get(mark) ?? null;
    if (!file) return null;
    let found = null;
    for (const world of this.roots.values()) {
      if (isPackaged(file, world.root) || !isWithin(world.root, file)) continue;
      if (!found || world.root.length > found.root.length) found = world;
    }
    return found ?? (file.includes(PACKAGES) ? null : this.sharing(url));
  }

  /** CommonJS files outside of all roots carry no mark: theirs is the world that reached them. */
  sharing(url) {
    for (const [parent, children] of this.edges) {
      if (children.has(url)) return this.marks.get(split(parent).mark) ?? this.byFolder(split(parent).path);
    }
    return null;
  }

  byFolder(file) {
    for (const world of this.roots.values()) {
      if (isWithin(world.root, file)) return world;
    }
    return null;
  }

  /** The address under which this world has that file. */
  place(world, file) {
    if (isPackaged(file, world.root)) return addressOf(file, "");
    return addressOf(file, isWithin(world.root, file) ? world.name : world.shared);
  }

  /** A source is about to be parsed: where that fails, it is the last one. */
  loading(url) {
    this.recent.push(split(url).path);
  }

  /** Of which kind it turned out to be. */
  heed(url, format) {
    if (format?.startsWith("commonjs")) this.common.add(url);
    else this.common.delete(url);
  }

  /** The namespace as Node has it since 23: of a CommonJS module with what it exports as a whole. */
  namespaceOf(url, namespace) {
    if (!this.common.has(url) || "module.exports" in namespace) return namespace;
    return { __proto__: null, ...namespace, "module.exports": namespace.default };
  }

  link(parent, child) {
    if (!this.edges.has(parent)) this.edges.set(parent, new Set());
    this.edges.get(parent).add(child);
  }

  stub(parent, specifier, names) {
    if (!this.stubs.has(parent)) this.stubs.set(parent, new Map());
    this.stubs.get(parent).set(specifier, { names, absent: absence(specifier, split(parent).path) });
  }

  standFor(parent, specifier) {
    if (!this.standIns.has(parent)) this.standIns.set(parent, new Set());
    this.standIns.get(parent).add(specifier);
  }

  /** Forget what is known of a file that will be loaded again under the same address. */
  forget(url) {
    this.edges.delete(url);
    this.stubs.delete(url);
    this.standIns.delete(url);
  }

  /**
   * {files, stubs, standIns} of all that this module reaches: files outside of its root, and what was
   * not installed.
   */
  reached(url, root) {
    const [seen, files, stubs, standIns] = [new Set([url]), [], new Map(), new Set()];
    for (const step of seen) {
      const file = split(step).path;
      if (file && !isWithin(root, file) && !isPackaged(file, root)) files.push(file);
      for (const [specifier, { names, absent }] of this.stubs.get(step) ?? []) {
        stubs.set(specifier, { names: new Set([...(stubs.get(specifier)?.names ?? []), ...names]), absent });
      }
      for (const specifier of this.standIns.get(step) ?? []) standIns.add(specifier);
      for (const from of [step, addressOf(file, "")]) { // CommonJS imports under the bare address
        for (const child of this.edges.get(from) ?? []) seen.add(child);
      }
    }
    return { files: [...new Set(files)].slice(0, FILES), stubs, standIns };
  }
}

module.exports = { split, addressOf, isPackaged, isWithin, Worlds };
