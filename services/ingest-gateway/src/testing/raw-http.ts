import { connect, type Socket } from 'node:net';

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A connection that lets a test control every byte, and read the response as it was sent. */
export interface RawConnection {
  socket: Socket;
  write(bytes: string | Buffer): void;
  /** Returns the next response with a Content-Length. Rejects if the connection is closed before it arrives. */
  response(): Promise<RawResponse>;
  closed: Promise<void>;
}

/**
 * Connects to a port of this machine.
 * @param allowHalfOpen true to keep the client's side open after the server has closed the connection
 */
export async function openRawConnection(port: number, { allowHalfOpen = false } = {}): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = Buffer.alloc(0);
  let wake = () => {};
  let hasEnded = false;
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      hasEnded = true;
      wake();
      resolve();
    });
  });
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    wake();
  });

  function takeResponse(): RawResponse | null {
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers['content-length'] ?? 0);
    if (received.length < end + 4 + length) return null;
    const body = received.toString('utf8', end + 4, end + 4 + length);
    received = received.subarray(end + 4 + length);
    return { status: Number(first.split(' ')[1]), headers, body };
  }

  return {
    socket,
    closed,
    write: (bytes) => void socket.write(bytes),
    async response() {
      for (;;) {
        const response = takeResponse();
        if (response !== null) return response;
        if (hasEnded) throw new Error('The connection ended before a response.');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
