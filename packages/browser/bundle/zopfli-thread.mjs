import { parentPort, workerData } from 'node:worker_threads';
import { gzipAsync } from '@gfx/zopfli';

// More rounds find a few bytes at most.
parentPort?.postMessage(await gzipAsync(workerData, { numiterations: 5 }));
