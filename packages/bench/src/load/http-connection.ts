import { connect, type Socket } from 'node:net';
import { createResponseReader } from './response-reader.ts';

/** One keep-alive connection that carries one request at a time. */
export interface HttpConnection {
  /**
   * Sends prepared bytes; calls back once with the status, or with 0 when the connection broke first.
   * A broken connection is opened anew by the next request.
   */
  request(bytes: Buffer, onStatus: (status: number) => void): void;
  close(): void;
}

/** Raw sockets, because an HTTP client would use more of the machine than the server that is measured. */
export function openHttpConnection(port: number): HttpConnection {
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
