/** Sends a page whose results are read in portions. */

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PagePortion, PageStream } from '../route/results.ts';
import { sendResponse } from './send-response.ts';

type Fields = Record<string, unknown>;
export type ListPageStream = PageStream<{ results: unknown[] }>;

export type PageSerializer = (fields: Fields) => Fields;

/** Time in milliseconds after which the connection to a client that does not read is closed. */
const patienceMs = 60_000;

/**
 * Sends a page. A page with a single portion is sent in one piece, like any other body. For a longer page, reads the
 * next portion only after the previous one has been sent, so that reading is not faster than the client.
 * @throws the errors of the first portion. If the client disconnects or a later portion fails, throws after the
 *   response was destroyed.
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

/** The results come first in the body, because the other fields may be known only after the last result. */
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
      yield ' '; // Shows a waiting client that the connection is alive.
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
