import { crc32, deflateRawSync, constants as zlib } from 'node:zlib';

/** Magic, deflate, no flags, no time, best compression, no system. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
const trailerBytes = 8;

/**
 * One gzip stream of a short text and of what is in another, which is not unpacked: a stream is a row of blocks, and may
 * begin with those of the text. Browsers do not read two streams in a row.
 * @param gzipped without a name or a comment in its header, as zlib makes it
 */
export function joinGzip(text: string, gzipped: Buffer, plain: Buffer): Buffer {
  const start = Buffer.from(text);
  // Ends at a whole byte, without the mark of a last block.
  const blocks = deflateRawSync(start, { finishFlush: zlib.Z_SYNC_FLUSH });
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(crc32(plain, crc32(start)), 0);
  trailer.writeUInt32LE((start.length + plain.length) >>> 0, 4);
  return Buffer.concat([header, blocks, gzipped.subarray(header.length, -trailerBytes), trailer]);
}
