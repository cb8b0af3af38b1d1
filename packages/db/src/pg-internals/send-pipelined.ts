/** Sends statements and COPY data in a pipeline, without waiting for the responses in between. */

import type { Socket } from 'node:net';
import type pg from 'pg';

/**
 * Reason for this workaround: waiting between two statements costs more than the network round trip. The process reads
 * a response only when it has finished its other work, and until then, other transactions wait for its locks. Relies
 * on: `pg` 8.23 checking `client.pipeline` for each query, so that the pipeline can be enabled for some queries only
 * (the types of `pg` do not declare this setting); and on the connection's stream, like `inOneWrite`. Test:
 * send-pipelined.test.ts ("pipelined statements are sent in one packet"). If the pipeline stops working, statements
 * only become slower. Remove this workaround when `pg` can send a list of statements together.
 */

interface Pipelining {
  /** Whether the client pipelines its queries. It may change only while no statement is in progress. */
  pipeline: boolean;
  connection: Wire;
}

/** A function that starts statements synchronously and returns their promises in the same order. */
export type Statements<Results extends unknown[]> = () => { [Index in keyof Results]: Promise<Results[Index]> };

/**
 * Sends the statements that `send` starts in one write, without waiting for responses between them. The statements run
 * in order. Resolves with their results once all statements have run, or rejects with the error of the first statement
 * that failed. In a transaction, PostgreSQL rejects all statements after a failed one.
 *
 * @param send a function that must return the original promise of each statement. The position of a promise shows which
 * statement failed first, because the errors of the following statements arrive at the same time. COPY is not possible
 * (`pg` rejects it).
 */
export async function sendPipelined<Results extends unknown[]>(
  client: pg.ClientBase,
  send: Statements<Results>,
): Promise<Results> {
  const pipelining = client as unknown as Pipelining;
  pipelining.pipeline = true;
  try {
    const statements = inOneWrite(pipelining.connection, send);
    // Wait for all responses, even after a failure, before the connection is used again.
    await Promise.allSettled(statements);
    return await (Promise.all(statements) as Promise<Results>);
  } finally {
    pipelining.pipeline = false;
  }
}

/**
 * Reason for this workaround: `pg` sends each message in a separate write. Each write wakes the server, which may then
 * take the CPU from this process before everything is sent. Relies on: `connection.stream` in `pg` being the socket to
 * which messages are written. Test: send-pipelined.test.ts ("in one packet"). Remove this workaround when `pg` combines
 * the writes of one event loop iteration.
 */

interface Wire {
  stream: Socket;
}

/** Combines everything that `send` writes into a single write. */
function inOneWrite<T>({ stream }: Wire, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/**
 * Reason for this workaround: pg-copy-streams waits for a server response before it sends rows, copies them, and waits
 * for each write. Rows that are already complete need none of these steps. Relies on: `pg` 8.23 calling the methods
 * below on a custom query for each message, and `callback` when its time limit has passed; on `connection.query`
 * writing the statement; and on `connection.stream` (`inOneWrite`). Test: send-pipelined.test.ts ("sends a COPY"), and
 * database.test.ts for failures. Remove this workaround when a COPY stream can send its data without waiting.
 */

const dataHead = 0x64; // 'd'
const doneMessage = Buffer.from([0x63, 0, 0, 0, 4]); // 'c'

/**
 * Runs COPY with chunks that are already complete. The statement, its rows and its end are sent together, and get a
 * single response. If the server rejects the statement or a row, it discards all remaining COPY messages (PostgreSQL
 * manual, message flow, "COPY Operations").
 * @param chunks the chunks, which are sent without being copied
 */
export function copyPipelined(client: pg.ClientBase, statement: string, chunks: readonly Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(createCopy(statement, chunks, (error) => (error ? reject(error) : resolve())));
  });
}

type Callback = (error: Error | null) => void;

/** Creates a custom query object. `pg` calls one of its methods for each kind of server message. */
function createCopy(statement: string, chunks: readonly Buffer[], callback: Callback): pg.Submittable {
  const copy = {
    /** `pg` wraps this callback to apply its time limit. */
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
