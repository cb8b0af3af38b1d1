import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/**
 * Reason: `pg` waits for the server to close the connection, without a limit: one that is frozen, or does not want to, keeps
 * it for ever.
 * Relies on: `connection.stream` of a client of `pg` 8.23, which its types do not know.
 * Witness: foreign-connection.test.ts.
 * May go: when `end` of `pg` takes a limit.
 */
interface Inside {
  connection: { stream: { destroy(): void } };
}

export const goodByeMs = 1000;

/** Ends a connection. One whose server does not say good-bye in time is cut. Never throws. */
export async function endConnection(client: pg.Client): Promise<void> {
  const ended = client.end().then(
    () => true,
    () => true,
  );
  if (await Promise.race([ended, sleep(goodByeMs, false, { ref: false })])) return;
  (client as unknown as Inside).connection.stream.destroy();
}
