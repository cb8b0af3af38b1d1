/**
 * Reads HTTP/1.1 responses of one keep-alive connection, as cheaply as a load generator needs it: it knows the status
 * line, `Content-Length` and chunked bodies, and nothing else.
 */
export interface ResponseReader {
  /** Feeds received bytes; calls back with the status of each complete response. */
  push(chunk: Buffer): void;
}

const headEnd = Buffer.from('\r\n\r\n');
const chunkedEnd = Buffer.from('0\r\n\r\n');

/** @throws from `push` an Error when the bytes are no HTTP response; the connection is then useless. */
export function createResponseReader(onResponse: (status: number) => void): ResponseReader {
  let pending: Buffer = Buffer.alloc(0);

  /** Takes one response off the front of `pending`; false when it is not complete yet. */
  function takeOne(): boolean {
    const headLength = pending.indexOf(headEnd);
    if (headLength < 0) return false;
    const head = pending.toString('latin1', 0, headLength);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error('The server did not answer in HTTP/1.1.');
    const end = bodyEnd(head, headLength + headEnd.length);
    if (end === null || end > pending.length) return false;
    pending = pending.subarray(end);
    onResponse(status);
    return true;
  }

  function bodyEnd(head: string, start: number): number | null {
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) return start + Number(length);
    if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return start;
    const last = pending.indexOf(chunkedEnd, start);
    return last < 0 ? null : last + chunkedEnd.length;
  }

  return {
    push(chunk) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length > 0 && takeOne());
    },
  };
}
