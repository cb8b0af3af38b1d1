import { connect, type Socket } from 'node:net';

/** One keep-alive connection that carries one request at a time. */
export interface HttpConnection {
  /**
   * Sends prepared bytes; calls back once with the status, or with 0 when the connection broke first.
   * A broken connection is opened again by the next request.
   */
  request(bytes: Buffer, onStatus: (status: number) => void): void;
  close(): void;
}

/** Raw sockets, because an HTTP client would use more of the machine than the server that is measured. */
function openHttpConnection(port: number): HttpConnection {
  let socket: Socket | null = null;
  let waiting: ((status: number) => void) | null = null;

  function finish(status: number): void {
    const callback = waiting;
    waiting = null;
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
    request(bytes, onStatus) {
      waiting = onStatus;
      socket ??= open();
      socket.write(bytes);
    },
    close() {
      socket?.destroy();
      socket = null;
    },
  };
}

/**
 * Reads HTTP/1.1 responses of one keep-alive connection, as cheaply as a load generator needs it: it knows the status
 * line, `Content-Length` and chunked bodies, and nothing else.
 */
interface ResponseReader {
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

interface RequestStream {
  port: number;
  /** Keep-alive connections, each with one request at a time. */
  connections: number;
  /** Requests per second of an open loop; null is a closed one. */
  requestsPerSecond: number | null;
  durationMs: number;
  /** The bytes of request number `index`; `dueAt` is on the clock of `performance.now`. */
  bytesOf(index: number, dueAt: number): Buffer;
  /** Called with each answer: status 0 = the connection broke; latency counts from the moment the request was due. */
  onAnswer(index: number, status: number, latencyMs: number): void;
}

/**
 * Sends requests for the duration and waits for the answers that are still due.
 * @returns milliseconds from the first request to the last answer.
 */
export async function sendRequests(stream: RequestStream): Promise<number> {
  const connections = Array.from({ length: stream.connections }, () => openHttpConnection(stream.port));
  const startedAt = performance.now();
  const endsAt = startedAt + stream.durationMs;
  let begun = 0;

  function nextRequest(): { index: number; dueAt: number } | null {
    const { requestsPerSecond } = stream;
    const dueAt = requestsPerSecond === null ? performance.now() : startedAt + (begun * 1000) / requestsPerSecond;
    return dueAt < endsAt ? { index: begun++, dueAt } : null;
  }

  await Promise.all(
    connections.map(async (connection) => {
      for (let request = nextRequest(); request !== null; request = nextRequest()) {
        const { index, dueAt } = request;
        await waitUntil(dueAt);
        const bytes = stream.bytesOf(index, dueAt);
        // A timer may fire a part of a millisecond early.
        const countsFrom = Math.min(dueAt, performance.now());
        await new Promise<void>((resolve) => {
          connection.request(bytes, (status) => {
            stream.onAnswer(index, status, performance.now() - countsFrom);
            resolve();
          });
        });
      }
      connection.close();
    }),
  );
  return performance.now() - startedAt;
}

async function waitUntil(moment: number): Promise<void> {
  const restMs = moment - performance.now();
  if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
}
