/** Connections of `pg` end, also where the server does not close its side. */

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

const goodByeMs = 1000;

/** Ends a connection. One whose server does not close its side in time is cut. Never throws. */
export async function endConnection(client: pg.Client): Promise<void> {
  const ended = client.end().then(
    () => true,
    () => true,
  );
  if (await Promise.race([ended, sleep(goodByeMs, false, { ref: false })])) return;
  (client as unknown as Inside).connection.stream.destroy();
}

/**
 * Reason: a pool of `pg` waits without a limit for the server to close a connection that it gives up. Where that good-bye gets
 * lost, neither the pool nor the process ends.
 * Relies on: the method by which a pool of `pg-pool` 3.14 gives up a connection, and `connection.stream` of a client of `pg`
 * 8.23; their types know neither.
 * Witness: reachability.test.ts ("a pool comes to its end").
 * May go: when `end` of `pg` takes a limit.
 */
interface PoolInside {
  _remove(client: pg.Client, ...rest: unknown[]): void;
}

interface ClientInside {
  connection: { stream: { destroy(): void } };
}

/** Cuts connections that the pool has given up, and whose server does not say good-bye in time. */
export function limitGoodByes(pool: pg.Pool): void {
  const inside = pool as unknown as PoolInside;
  const remove = inside._remove.bind(pool);
  inside._remove = (client, ...rest) => {
    const { connection } = client as unknown as ClientInside;
    const timer = setTimeout(() => connection.stream.destroy(), goodByeMs).unref();
    client.once('end', () => clearTimeout(timer));
    remove(client, ...rest);
  };
}
