// `npm test` and `npm run test:long`: run the tests on real servers. See packages/stack/src/test/run-tests.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/test/run-tests.ts');
