'use strict';
/**
 * How the program's own files are compiled: from V8's code cache where one is at hand (the functions an earlier run has
 * compiled, kept by the build), else as always. Half of what a start costs is parsing otherwise.
 */
const Module = require('node:module');
const { dirname, join, sep } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script, constants } = require('node:vm');

/** On a line of its own, so that the places in a file are what they are on disk. */
const OPENING = '(function (exports, require, module, __filename, __dirname) {\n';

/**
 * From now on, files under `folder` are compiled here. `cached(name)` gives what an earlier run kept of the file (`name`
 * with slashes, below `folder`) or undefined; what V8 does not take (another version or flags) it leaves alone.
 * `compiled(name, script, source)` hears of each.
 */
exports.compileUnder = function compileUnder(folder, cached, compiled = () => {}) {
  const asAlways = Module.prototype._compile;
  Module.prototype._compile = function compile(source, filename, ...rest) {
    if (!filename.startsWith(folder)) return asAlways.call(this, source, filename, ...rest);
    const name = filename.slice(folder.length).replaceAll(sep, '/');
    const script = new Script(`${OPENING}${source}\n})`, {
      filename,
      lineOffset: -1,
      cachedData: cached(name),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    compiled(name, script, source);
    const run = script.runInThisContext();
    return run.call(this.exports, this.exports, Module.createRequire(filename), this, filename, dirname(filename));
  };
};

/** Loads a module of the program that cannot be CommonJS. This file is compiled as always, so here an import works. */
exports.importModule = (name) => import(pathToFileURL(join(__dirname, name)).href);
