// `npm run docs`: writes the pages in docs/ that are generated from code. See packages/stack/src/docs/docs.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/docs/docs.ts');
