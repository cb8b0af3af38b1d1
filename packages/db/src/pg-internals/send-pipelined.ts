import type pg from 'pg';
import { inOneWrite, type Wire } from './one-write.ts';

/**
 * Reason: waiting between two statements costs more than the way to the server and back: the process reads the answer when it
 * has finished whatever else it is doing, and other transactions wait for this one's locks meanwhile.
 * Relies on: `pg` 8.23 taking `client.pipeline` into account with each query, so that it can be switched on for some of them
 * only; its types do not know it. And on the connection's stream, as one-write.ts does.
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
