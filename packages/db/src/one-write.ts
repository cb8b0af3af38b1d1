import type { Socket } from 'node:net';

/** What `pg` leaves out of the types of a connection. */
export interface Wire {
  stream: Socket;
}

/** Whatever `send` writes goes out in one piece. Each write wakes the server, which then may take the processor from this process before all is sent. */
export function inOneWrite<T>({ stream }: Wire, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
