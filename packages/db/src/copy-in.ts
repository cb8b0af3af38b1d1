import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { copyPipelined } from './pg-internals/copy-pipelined.ts';
import { takeChunks } from './take-chunks.ts';

/**
 * Up to this size all chunks are collected and sent at once. With more, only as much is in memory as the server takes.
 */
const maxBytesAtOnce = 8 * 1024 * 1024;

/**
 * Appends rows through COPY, which costs the server less than an INSERT of the same rows. Beyond some megabytes, chunks
 * are asked for as fast as the server takes them, so a generator of very large rows has few of them in memory.
 *
 * @param statement `COPY … FROM STDIN`, with the format of the chunks.
 * @param chunks made by `copyRows` (copy-format.ts), or text.
 */
export async function copyIn(client: pg.ClientBase, statement: string, chunks: Iterable<Buffer>): Promise<void> {
  const rest = chunks[Symbol.iterator]();
  const { taken, isAll } = takeChunks(rest, maxBytesAtOnce);
  await (isAll ? copyPipelined(client, statement, taken) : copyStream(client, statement, taken, rest));
}

async function copyStream(
  client: pg.ClientBase,
  statement: string,
  first: Buffer[],
  rest: Iterator<Buffer>,
): Promise<void> {
  function* all(): Generator<Buffer> {
    for (let chunk = first.shift(); chunk !== undefined; chunk = first.shift()) yield chunk;
    for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
  }
  await pipeline(
    Readable.from(all(), { objectMode: true, highWaterMark: 1 }),
    client.query(copyStreams.from(statement)),
  );
}
