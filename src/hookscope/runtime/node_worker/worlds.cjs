// Maps each file to the hook and the version that it belongs to, and tracks which module imports which.
//
// A world is one content of one hook's folder. Its `name` is part of the address of each of its
// modules (`handler.ts?t=NAME&hookscope`; hosts write `?t=TIME`), so that another content is another
// module. Files that hooks share (`../lib/x.ts`) have the name `shared`, which the host changes when one
// of them changes.

"use strict";

const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { absence } = require("./missing.cjs");

const PACKAGES = `${path.sep}node_modules${path.sep}`;
// The package folder of an installed pack of hooks.
const OWN_PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/]|$)/;
const FILES = 200; // that are reported to the host

const queried = /\?t=([^&#]*)&hookscope$/;

const known = new Map(); // address → its parts, which each call needs

/** {path, mark, plain} of an address: its file, the name of the content in it, and the address without that name. */
function split(url) {
  let parts = known.get(url);
  if (!parts) {
    const mark = queried.exec(url)?.[1] ?? "";
    const bare = mark ? url.slice(0, url.lastIndexOf("?")) : url;
    const file = bare.startsWith("file:") ? fileURLToPath(bare) : "";
    parts = { path: file, mark: decodeURIComponent(mark), plain: file && addressOf(file, "") };
    known.set(url, parts);
  }
  return parts;
}

function addressOf(file, mark) {
  const url = pathToFileURL(file).href;
  return mark ? `${url}?t=${encodeURIComponent(mark)}&hookscope` : url;
}

/** True for a file of an installed package, except the package that contains the hook itself. */
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
    this.roots = new Map(); // root folder → its current world
    this.marks = new Map(); // mark → the last world with it
    this.edges = new Map(); // address → addresses of the files that it imports
    this.recent = []; // files that were loaded since the current import began
    this.missing = new WeakMap(); // error → {file, specifier} of the failed import
    this.common = new Set(); // addresses of CommonJS modules
    this.required = new Set(); // ES modules that CommonJS required: Node caches those by path
    this.kept = ""; // one of them that has changed, so that this process cannot reload it
    this.stubs = new Map(); // address → specifier → {names: stubbed there, absent: see `absence`}
    this.standIns = new Map(); // address → specifiers of schemas that accept everything there
    this.reloads = 0; // how often a folder's content was replaced: old modules stay in memory
  }

  /**
   * Make this the current content of the folder. Return a function that is true for files to forget.
   * `isPlain`: load it as Node does, without corrected imports, stubs or transforms. `isOfEve`: use our Eve
   * packages even if Eve is installed. `isOfPlugin`: its host removes imports that are used only as types.
   * `isStrict`: its host corrects and transforms as we do and has its SDK, but does not stub missing packages.
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

  /** True if the file is outside the folders of all hooks. */
  isOutside(file) {
    for (const root of this.roots.keys()) {
      if (isWithin(root, file)) return false;
    }
    return true;
  }

  /** The world of an importing file; null if it does not belong to a hook. */
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

  /** The world of a CommonJS file outside all roots, which has no mark: that of a file that imports it. */
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

  /** The address of a file in this world. */
  place(world, file) {
    if (isPackaged(file, world.root)) return addressOf(file, "");
    return addressOf(file, isWithin(world.root, file) ? world.name : world.shared);
  }

  /** Note that a source is about to be parsed: if that fails, it is the last noted one. */
  loading(url) {
    this.recent.push(split(url).path);
  }

  /** Note the format of a loaded module. */
  noteFormat(url, format) {
    if (format?.startsWith("commonjs")) this.common.add(url);
    else this.common.delete(url);
  }

  /** Return the namespace as Node 23 and newer do: with `module.exports` for a CommonJS module. */
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

  /** Forget the facts about a file that will be loaded again under the same address. */
  forget(url) {
    this.edges.delete(url);
    this.stubs.delete(url);
    this.standIns.delete(url);
  }

  /**
   * Return {files, stubs, standIns} for everything that this module reaches: files outside its root, and what
   * is not installed.
   */
  reached(url, root) {
    const [seen, files, stubs, standIns] = [new Set([url]), [], new Map(), new Set()];
    for (const step of seen) {
      const { path: file, plain } = split(step);
      if (file && !isWithin(root, file) && !isPackaged(file, root)) files.push(file);
      for (const [specifier, { names, absent }] of this.stubs.get(step) ?? []) {
        stubs.set(specifier, { names: new Set([...(stubs.get(specifier)?.names ?? []), ...names]), absent });
      }
      for (const specifier of this.standIns.get(step) ?? []) standIns.add(specifier);
      for (const from of [step, plain]) { // CommonJS imports use the address without a mark
        for (const child of this.edges.get(from) ?? []) seen.add(child);
      }
    }
    return { files: [...new Set(files)].slice(0, FILES), stubs, standIns };
  }
}

module.exports = { split, addressOf, isPackaged, isWithin, Worlds };
