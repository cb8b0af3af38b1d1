import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * gzip, some 3 % smaller than zlib makes it; takes about a second. In a thread of its own: the package that does it would
 * end the process at the first rejection that nobody handles.
 */
export async function gzipTightly(bytes: Uint8Array): Promise<Uint8Array> {
  const [gzipped] = await once(
    new Worker(new URL('zopfli-thread.mjs', import.meta.url), { workerData: bytes }),
    'message',
  );
  return gzipped as Uint8Array;
}
