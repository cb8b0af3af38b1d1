// `npm run dev -- <service>`: runs one service under a debugger. See packages/stack/src/start/dev.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/start/dev.ts');
