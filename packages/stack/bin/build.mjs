// `pnpm build`: every program as one file in dist/. See packages/stack/src/build/build.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/build/build.ts');
