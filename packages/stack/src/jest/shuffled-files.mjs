import { createHash } from 'node:crypto';
import Sequencer from '@jest/test-sequencer';

/** Runs test files in random order, so that no file depends on another. `--seed` reproduces an order. */
export default class ShuffledFiles extends Sequencer {
  #seed;

  constructor(options) {
    super(options);
    this.#seed = options.globalConfig.seed;
  }

  sort(tests) {
    const position = ({ path, context }) =>
      createHash('sha256')
        .update(`${this.#seed} ${path.slice(context.config.rootDir.length)}`)
        .digest('hex');
    return [...tests].sort((a, b) => (position(a) < position(b) ? -1 : 1));
  }
}
