/** Sends a page of results in several chunks, and reads each chunk only when the previous one was sent. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PagePortion, PageStream } from '../route/results.ts';
import { sendResponse } from './send-response.ts';

type Fields = Record<string, unknown>;
export type ListPageStream = PageStream<{ results: unknown[] }>;

export type PageSerializer = (fields: Fields) => Fields;

/** Time in milliseconds after which a connection is closed if the client does not read from it. */
const patienceMs = 60_000;

/**
 * Sends a page. If it consists of a single chunk, sends it like any other body. Otherwise, reads each chunk only after
 * the previous one was sent, so that the server does not read faster than the client.
 * @throws the errors of the first chunk. If the client disconnects or reading another chunk fails, destroys the
 *   response and throws.
 */
export async function sendPage(
  response: ServerResponse,
  { portions }: ListPageStream,
  { status, serialize, isHead }: { status: number; serialize: PageSerializer; isHead: boolean },
): Promise<void> {
  const first = await nextPortion(portions);
  if (first.end !== null) {
    const value = serialize({ ...first.end, results: first.results });
    return sendResponse(response, { status, value });
  }
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json');
  if (isHead) {
    await portions.return();
    response.end();
    return;
  }
  response.setTimeout(patienceMs);
  await pipeline(Readable.from(textsOf(first, portions, serialize), { highWaterMark: 0 }), response);
}

/** Writes the results first, because the values of the other fields may be known only after the last result. */
async function* textsOf(
  first: PagePortion<{ results: unknown[] }>,
  portions: ListPageStream['portions'],
  serialize: PageSerializer,
): AsyncGenerator<string> {
  let isEmpty = true;
  yield '{"results":[';
  for (let portion = first; ; portion = await nextPortion(portions)) {
    const text = JSON.stringify(serialize({ results: portion.results }).results).slice(1, -1);
    if (text === '')
      yield ' '; // Send whitespace, so that a waiting client knows that the connection is alive.
    else yield isEmpty ? text : `,${text}`;
    isEmpty &&= text === '';
    if (portion.end !== null) {
      const rest = JSON.stringify(serialize(portion.end)).slice(1, -1);
      yield rest === '' ? ']}' : `],${rest}}`;
      return;
    }
  }
}

async function nextPortion(portions: ListPageStream['portions']): Promise<PagePortion<{ results: unknown[] }>> {
  const { value } = await portions.next();
  if (!value) throw new Error('A page ended without its last part.');
  return value;
}
