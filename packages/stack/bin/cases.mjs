// `npm run cases`: what the tests assert, sorted. See packages/stack/src/cases.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/cases.ts');
