import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/**
 * The test files that take longest, copied from the list that each run prints. They start first. If one of them started
 * last, all other workers would be idle for minutes.
 */
const slowestFiles = [
  'packages/insights/tests/clickhouse.long.test.ts',
  'packages/insights/tests/random-sql.long.test.ts',
  'packages/console/tests/every-page.chromium.sampled.test.ts',
  'test-e2e/clients/generated/generated-clients.long.test.ts',
  'packages/insights/tests/engines-alike.long.test.ts',
  'services/management-api/src/access/reach-matrix.sampled.test.ts',
  'packages/stack/src/start/first-event.long.test.ts',
  'services/ingest-gateway/src/capture/large-bodies.kafka.test.ts',
];

/**
 * Runs test files in random order, to find files that depend on another one. The slowest files start first. `--seed`
 * reproduces an order.
 */
export default class ShuffledFiles extends Sequencer {
  #seed;

  constructor(options) {
    super(options);
    this.#seed = options.globalConfig.seed;
  }

  /** Sorts the test files. @throws Error if a file in `slowestFiles` does not exist, because it was probably renamed */
  sort(tests) {
    const { rootDir } = tests[0]?.context.config ?? {};
    const missing = slowestFiles.filter((path) => rootDir && !existsSync(join(rootDir, path)));
    if (missing.length > 0) throw new Error(`shuffled-files.mjs lists files that do not exist: ${missing.join(', ')}`);
    const position = ({ path, context }) => {
      const file = relative(context.config.rootDir, path);
      const at = slowestFiles.indexOf(file);
      return at === -1 ? `1 ${createHash('sha256').update(`${this.#seed} ${file}`).digest('hex')}` : `0 ${at}`;
    };
    return [...tests].sort((a, b) => (position(a) < position(b) ? -1 : 1));
  }
}
