import type pg from 'pg';
import { inOneWrite, type Wire } from './one-write.ts';

/**
 * Reason: pg-copy-streams asks the server before it sends rows, copies them, and waits for what it has written; rows that are
 * all there need none of that.
 * Relies on: `pg` 8.23 calling, on a query of our own, the methods below for each message, and `callback` when its time limit
 * is over; on `connection.query` writing the statement, and on `connection.stream` (one-write.ts).
 * Witness: send-pipelined.test.ts ("a COPY goes out"), and database.test.ts for what fails on the way.
 * May go: when a stream for COPY sends what it has without asking.
 */

const dataHead = 0x64; // 'd'
const doneMessage = Buffer.from([0x63, 0, 0, 0, 4]); // 'c'

/**
 * COPY of what is there already: the statement, its rows and their end go out together, and the one answer is waited
 * for. A server that refuses the statement or a row drops what follows it (PostgreSQL, message flow, "COPY Operations").
 *
 * @param chunks are sent as they are, without a copy.
 */
export function copyPipelined(client: pg.ClientBase, statement: string, chunks: readonly Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(createCopy(statement, chunks, (error) => (error ? reject(error) : resolve())));
  });
}

type Callback = (error: Error | null) => void;

/** A query as `pg` handles it: it calls one method for each kind of message that comes back. */
function createCopy(statement: string, chunks: readonly Buffer[], callback: Callback): pg.Submittable {
  const copy = {
    /** `pg` wraps it to keep its time limit. */
    callback,
    submit(connection: pg.Connection) {
      const wire = connection as pg.Connection & Wire;
      inOneWrite(wire, () => {
        connection.query(statement);
        for (const chunk of chunks) {
          const head = Buffer.allocUnsafe(5);
          head[0] = dataHead;
          head.writeUInt32BE(chunk.length + 4, 1);
          wire.stream.write(head);
          wire.stream.write(chunk);
        }
        wire.stream.write(doneMessage);
      });
    },
    handleCopyInResponse() {},
    handleCommandComplete() {},
    handleError: (error: Error) => copy.callback(error),
    handleReadyForQuery: () => copy.callback(null),
  };
  return copy;
}
