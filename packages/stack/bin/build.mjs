// `pnpm build`: builds every program into dist/. See packages/stack/src/build/build.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/build/build.ts');
