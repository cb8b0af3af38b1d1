// `npm start`: runs the complete system on this machine. See packages/stack/src/start/start.ts.
import { runBuiltStart } from './prepare/run-command.mjs';

await runBuiltStart();
