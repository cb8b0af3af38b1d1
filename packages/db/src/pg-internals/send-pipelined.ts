/** Statements and COPY that go out together, without waiting for an answer between them. */

import type { Socket } from 'node:net';
import type pg from 'pg';

/**
 * Reason: waiting between two statements costs more than the way to the server and back: the process reads the answer when it
 * has finished whatever else it is doing, and other transactions wait for this one's locks meanwhile.
 * Relies on: `pg` 8.23 taking `client.pipeline` into account with each query, so that it can be switched on for some of them
 * only; its types do not know it. And on the connection's stream, as `inOneWrite` does.
 * Witness: send-pipelined.test.ts ("statements go out together"); without a pipeline they would only be slow.
 * May go: when `pg` sends a list of statements in one go.
 */

/** What `pg` leaves out of its types. */
interface Pipelining {
  /** A setting of the connection; it may change whenever no statement is under way. */
  pipeline: boolean;
  connection: Wire;
}

/** Asks for statements, all before it returns, and gives their promises in the same order. */
export type Statements<Results extends unknown[]> = () => { [Index in keyof Results]: Promise<Results[Index]> };

/**
 * Sends the statements that `send` asks for in one go, without waiting for an answer between them. They run in the order
 * they were asked for. Resolves with their results once all have run, or rejects with the error of the first that
 * failed; in a transaction PostgreSQL refuses all after that one.
 *
 * @param send gives the promise of each statement by itself: which one failed first is told by their order, as the
 * failures of all that follow arrive together with it. COPY is not possible (`pg` refuses it).
 */
export async function sendPipelined<Results extends unknown[]>(
  client: pg.ClientBase,
  send: Statements<Results>,
): Promise<Results> {
  const pipelining = client as unknown as Pipelining;
  pipelining.pipeline = true;
  try {
    const statements = inOneWrite(pipelining.connection, send);
    // Whatever fails, the connection is used again only when every answer is there.
    await Promise.allSettled(statements);
    return await (Promise.all(statements) as Promise<Results>);
  } finally {
    pipelining.pipeline = false;
  }
}

/**
 * Reason: `pg` writes each message by itself. Each write wakes the server, which then may take the processor from this process
 * before all is sent.
 * Relies on: `connection.stream` of `pg` being the socket that messages are written to.
 * Witness: send-pipelined.test.ts ("in one piece").
 * May go: when `pg` collects what is asked for in one turn.
 */

/** What `pg` leaves out of the types of a connection. */
interface Wire {
  stream: Socket;
}

/** Whatever `send` writes goes out in one piece. */
function inOneWrite<T>({ stream }: Wire, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/**
 * Reason: pg-copy-streams asks the server before it sends rows, copies them, and waits for what it has written; rows that are
 * all there need none of that.
 * Relies on: `pg` 8.23 calling, on a query of our own, the methods below for each message, and `callback` when its time limit
 * is over; on `connection.query` writing the statement, and on `connection.stream` (`inOneWrite`).
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
