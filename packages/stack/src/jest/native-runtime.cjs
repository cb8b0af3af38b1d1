// Runs tests as native ES modules. A process keeps the modules it has loaded, so each test file only loads its own.
const asyncHooks = require('node:async_hooks');
const { pathToFileURL } = require('node:url');
const RunningTest = require('./running-test.cjs');
require('./worker-fixtures.cjs');

/** Whether each promise copies every AsyncLocalStorage (see RunningTest). Later releases do not let it be replaced. */
const copiesContexts = Number(process.versions.node.split('.')[0]) < 24;

/**
 * Implements the part of jest-runtime's interface that jest-runner and jest-circus call. Node.js loads test files and
 * their imports (with tsx) in the realm of this process, and keeps them loaded for the next file.
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

  /** Loads a fresh copy of jest-circus for each file, because it keeps tests and event handlers in module state. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    if (!copiesContexts) return require(path);
    const { AsyncLocalStorage } = asyncHooks;
    asyncHooks.AsyncLocalStorage = RunningTest;
    try {
      return require(path);
    } finally {
      asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    }
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
