// `npm run image`: builds the container image of all services without Docker. See packages/stack/src/image/image.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/image/image.ts');
