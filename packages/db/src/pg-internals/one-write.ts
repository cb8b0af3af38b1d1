import type { Socket } from 'node:net';

/**
 * Reason: `pg` writes each message by itself. Each write wakes the server, which then may take the processor from this process
 * before all is sent.
 * Relies on: `connection.stream` of `pg` being the socket that messages are written to.
 * Witness: send-pipelined.test.ts ("in one piece").
 * May go: when `pg` collects what is asked for in one turn.
 */

/** What `pg` leaves out of the types of a connection. */
export interface Wire {
  stream: Socket;
}

/** Whatever `send` writes goes out in one piece. */
export function inOneWrite<T>({ stream }: Wire, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
