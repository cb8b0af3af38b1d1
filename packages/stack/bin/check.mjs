// `pnpm check`: checks format, lint rules, types, import rules and dead code. See packages/stack/src/check/check.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/check/check.ts');
