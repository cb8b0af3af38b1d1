// `npm run image`: the image of all services, packed without Docker. See packages/stack/src/image/image.ts.
import { runCommand } from './prepare/run-command.mjs';

await runCommand('../../src/image/image.ts');
