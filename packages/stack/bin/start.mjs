// `npm start`: the whole system on this machine. See packages/stack/src/start/start.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/start/start.ts');
