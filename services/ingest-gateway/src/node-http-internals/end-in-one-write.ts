import type { ServerResponse } from 'node:http';

/**
 * Reason: `response.end(text)` gives the socket two pieces, the second of them empty, and two pieces go the way of lists
 * (`writev`), which is a twentieth of what a small event costs.
 * Relies on: the fields below of Node's responses, up to Node 24. Where a Node keeps its heads otherwise this is
 * `response.end(text)`.
 * Witness: end-in-one-write.test.ts ("an answer is one piece").
 * May go: when Node writes a short answer in one piece.
 */

/** Not part of Node's public interface, so each field is checked before it is used. */
interface HeadInWaiting {
  /** The text of the head, once there is one. */
  _header?: unknown;
  _headerSent?: unknown;
  /** False for the answer to a HEAD, and for a status that has no body. */
  _hasBody?: unknown;
  /** True where the head does not say how long the body is. */
  chunkedEncoding?: unknown;
}

/**
 * Ends an answer whose head is complete with a short text, in one piece: the text is appended to the head. Text that
 * would have to be encoded is sent in the usual way.
 */
export function endInOneWrite(response: ServerResponse, text: string): void {
  const waiting: HeadInWaiting = response as object;
  const { _header: head } = waiting;
  const isWaiting = typeof head === 'string' && waiting._headerSent === false;
  const isOfKnownLength = waiting._hasBody === true && waiting.chunkedEncoding === false;
  if (!isWaiting || !isOfKnownLength || Buffer.byteLength(text) !== text.length) {
    response.end(text);
    return;
  }
  waiting._header = head + text;
  response.end();
}
