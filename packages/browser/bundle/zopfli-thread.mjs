import { parentPort, workerData } from 'node:worker_threads';
import { gzipAsync } from '@gfx/zopfli';

// More than five iterations save only a few more bytes.
parentPort?.postMessage(await gzipAsync(workerData, { numiterations: 5 }));
