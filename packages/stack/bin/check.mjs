// `pnpm check`: format, lint, types, import rules, dead code. See packages/stack/src/check/check.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/check/check.ts');
