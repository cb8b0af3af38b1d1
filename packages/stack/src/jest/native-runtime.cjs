// Tests as native ES modules: one process keeps what it has loaded, and a test file costs no more than its own modules.
const { pathToFileURL } = require('node:url');
require('./worker-fixtures.cjs');

/**
 * The part of jest-runtime's interface that jest-runner and jest-circus call. Test files and what they import are loaded by
 * Node.js (with tsx), in this process's own realm, and stay loaded for the next file.
 */
class NativeRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  requireModule(path) {
    return require(path);
  }

  /** Each file gets a fresh copy of jest-circus: it keeps its tests and event handlers in module state. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    Object.assign(this.#environment.global, globals);
  }

  getSourceMaps() {
    return null;
  }

  getAllCoverageInfoCopy() {}

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {}
}

module.exports = NativeRuntime;
