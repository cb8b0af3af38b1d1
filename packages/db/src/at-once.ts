import type pg from 'pg';

/** `pg` takes it as a setting of a connection; it may change whenever no statement is under way. */
interface Pipelining {
  pipeline: boolean;
}

/**
 * Sends the statements that `send` asks for in one go, without waiting for an answer between them. They run in the order
 * they were asked for. Resolves with their results once all have run, or rejects with the error of the first that
 * failed; in a transaction PostgreSQL refuses all after that one.
 *
 * Waiting between two statements costs more than the way to the server and back: the process reads the answer when it
 * has finished whatever else it is doing, and other transactions wait for this one's locks meanwhile.
 *
 * @param send must ask for all of its statements before it returns, and return each by itself, in their order: which one
 * failed first is told by their places, as the failures of all that follow arrive together with it. COPY is not possible
 * (`pg` refuses it).
 */
export async function sendAtOnce<Results extends unknown[]>(
  client: pg.ClientBase,
  send: () => { [Index in keyof Results]: Promise<Results[Index]> },
): Promise<Results> {
  const connection = client as unknown as Pipelining;
  connection.pipeline = true;
  try {
    const statements = send();
    // Whatever fails, the connection is used again only when every answer is there.
    await Promise.allSettled(statements);
    return await (Promise.all(statements) as Promise<Results>);
  } finally {
    connection.pipeline = false;
  }
}
