import { once } from 'node:events';
import { createGzip } from 'node:zlib';

/** Gathers text as bytes, compressed or not, to be taken away in pieces. */
export interface ByteSink {
  write(text: string): Promise<void>;
  /** No more text will come: what the compressor still holds comes out. */
  end(): Promise<void>;
  /** Bytes that can be taken. */
  size(): number;
  take(): Buffer;
  /** Whether anything was ever written. */
  hasContent(): boolean;
}

export function createByteSink({ isCompressed }: { isCompressed: boolean }): ByteSink {
  let chunks: Buffer[] = [];
  let size = 0;
  let hasContent = false;
  const gzip = isCompressed ? createGzip() : null;
  const keep = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
  };
  gzip?.on('data', keep);
  return {
    async write(text) {
      hasContent ||= text !== '';
      if (!gzip) keep(Buffer.from(text, 'utf8'));
      else if (!gzip.write(text)) await once(gzip, 'drain');
    },
    async end() {
      if (!gzip) return;
      const ended = once(gzip, 'end');
      gzip.end();
      await ended;
    },
    size: () => size,
    take() {
      const taken = Buffer.concat(chunks);
      chunks = [];
      size = 0;
      return taken;
    },
    hasContent: () => hasContent,
  };
}
