// `npm run release`: everything that a release ships, made and published. See packages/stack/src/release.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/release.ts');
