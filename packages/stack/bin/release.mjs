// `npm run release`: builds and publishes a release. See packages/stack/src/release.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/release.ts');
