// Sends HTTP requests with as little CPU time as possible.

import { connect, type Socket } from 'node:net';

/**
 * Opens a keep-alive connection that carries one request at a time. Uses a raw socket, because an HTTP client would use
 * more CPU time than the measured server.
 */
function openHttpConnection(port: number) {
  let socket: Socket | null = null;
  let onStatus: ((status: number) => void) | null = null;

  function finish(status: number): void {
    const callback = onStatus;
    onStatus = null;
    callback?.(status);
  }

  function open(): Socket {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true });
    const reader = createResponseReader(finish);
    const onLost = () => {
      if (socket !== opened) return;
      socket = null;
      opened.destroy();
      finish(0);
    };
    opened.on('data', (chunk) => {
      try {
        reader.push(chunk);
      } catch {
        onLost();
      }
    });
    opened.on('error', onLost);
    opened.on('close', onLost);
    return opened;
  }

  return {
    /**
     * Sends a request and returns the response's status, or 0 if the connection broke. After that, the next request
     * opens a new one.
     */
    request(bytes: Buffer): Promise<number> {
      return new Promise((resolve) => {
        onStatus = resolve;
        socket ??= open();
        socket.write(bytes);
      });
    },
    close() {
      socket?.destroy();
      socket = null;
    },
  };
}

const headEnd = Buffer.from('\r\n\r\n');
const chunkedEnd = Buffer.from('0\r\n\r\n');

/**
 * Reads the HTTP/1.1 responses of a keep-alive connection, and calls `onResponse` with each status. Supports only the
 * status line, `Content-Length` and chunked bodies. `push` throws if the bytes are not HTTP.
 */
export function createResponseReader(onResponse: (status: number) => void): { push(chunk: Buffer): void } {
  let pending: Buffer = Buffer.alloc(0);

  /** Removes one response from the start of `pending`. Returns false if the response is incomplete. */
  function takeOne(): boolean {
    const headLength = pending.indexOf(headEnd);
    if (headLength < 0) return false;
    const head = pending.toString('latin1', 0, headLength);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error('The server did not respond in HTTP/1.1.');
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

interface RequestStream {
  port: number;
  /** Number of keep-alive connections, each of which carries one request at a time. */
  connections: number;
  /**
   * The rate of an open loop, in which requests are due at fixed times, even if the server is too slow, and latency is
   * counted from the time when a request was due. Null for a closed loop, in which each connection sends its next
   * request as soon as it can.
   */
  requestsPerSecond: number | null;
  durationMs: number;
  /** Returns the bytes of the request with the given number. `dueAt` can be compared to `performance.now()`. */
  bytesOf(index: number, dueAt: number): Buffer;
  /** Receives the status of each response, or 0 if the connection broke. */
  onResponse(index: number, status: number, latencyMs: number): void;
}

/** Sends requests for `durationMs`, and waits for the outstanding responses. Returns the total time in milliseconds. */
export async function sendRequests(stream: RequestStream): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + stream.durationMs;
  let begun = 0;

  function nextRequest(): { index: number; dueAt: number } | null {
    const { requestsPerSecond } = stream;
    const dueAt = requestsPerSecond === null ? performance.now() : startedAt + (begun * 1000) / requestsPerSecond;
    return dueAt < endsAt ? { index: begun++, dueAt } : null;
  }

  async function send(): Promise<void> {
    const connection = openHttpConnection(stream.port);
    for (let request = nextRequest(); request !== null; request = nextRequest()) {
      const { index, dueAt } = request;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const bytes = stream.bytesOf(index, dueAt);
      // A timer can fire a fraction of a millisecond early, before the request is due.
      const countsFrom = Math.min(dueAt, performance.now());
      const status = await connection.request(bytes);
      stream.onResponse(index, status, performance.now() - countsFrom);
    }
    connection.close();
  }

  await Promise.all(Array.from({ length: stream.connections }, send));
  return performance.now() - startedAt;
}
