// The worker thread that runs the WebAssembly parser. The parser runs to its end once it has started, so only terminating the thread
// stops it.
import { parentPort } from 'node:worker_threads';
import createParser from '@posthog/hogql-parser';

const { parseSelect } = await createParser();
// The first parse compiles most of the module.
parseSelect('SELECT 1');
parentPort?.on('message', ({ text }) => parentPort?.postMessage({ json: parseSelect(text) }));
parentPort?.postMessage({ isReady: true });
