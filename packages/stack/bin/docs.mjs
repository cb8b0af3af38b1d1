// `npm run docs`: writes the pages of docs/ that are made from the code. See packages/stack/src/docs/docs.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/docs/docs.ts');
