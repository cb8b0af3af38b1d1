import { parentPort, workerData } from 'node:worker_threads';
import { gzipAsync } from '@gfx/zopfli';

// Further iterations would save only a few bytes.
parentPort?.postMessage(await gzipAsync(workerData, { numiterations: 5 }));
