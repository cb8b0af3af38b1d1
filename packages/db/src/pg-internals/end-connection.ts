import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/**
 * Reason for this workaround: `pg` waits without a limit for the server to close the connection, so a frozen server
 * blocks it indefinitely. Relies on: `connection.stream` of a client in `pg` 8.23, which its types do not declare.
 * Test: external-connection.test.ts. Remove this workaround when `end` of `pg` accepts a time limit.
 */
interface Inside {
  connection: { stream: { destroy(): void } };
}

const goodByeMs = 1000;

/** Ends a connection, and destroys its socket if the server does not close its side in time. Never throws. */
export async function endConnection(client: pg.Client): Promise<void> {
  const ended = client.end().then(
    () => true,
    () => true,
  );
  if (await Promise.race([ended, sleep(goodByeMs, false, { ref: false })])) return;
  (client as unknown as Inside).connection.stream.destroy();
}

/**
 * Reason for this workaround: a `pg` pool waits without a limit for the server to close a discarded connection. If the
 * message that ends the connection is lost, neither the pool nor the process ends. Relies on: the method with which a
 * pool of `pg-pool` 3.14 discards a connection, and `connection.stream` of a client in `pg` 8.23, which their types do
 * not declare. Test: reachability.test.ts ("a pool and its process end"). Remove this workaround when `end` of `pg`
 * accepts a time limit.
 */
interface PoolInside {
  _remove(client: pg.Client, ...rest: unknown[]): void;
}

interface ClientInside {
  connection: { stream: { destroy(): void } };
}

/** Destroys the sockets of discarded pool connections if the server does not close its side in time. */
export function limitDisconnectTime(pool: pg.Pool): void {
  const inside = pool as unknown as PoolInside;
  const remove = inside._remove.bind(pool);
  inside._remove = (client, ...rest) => {
    const { connection } = client as unknown as ClientInside;
    const timer = setTimeout(() => connection.stream.destroy(), goodByeMs).unref();
    client.once('end', () => clearTimeout(timer));
    remove(client, ...rest);
  };
}
