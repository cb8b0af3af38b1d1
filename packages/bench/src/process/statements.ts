import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { BenchDatabase } from '../topic/bench-project.ts';

/** A way to a PostgreSQL server that counts the statements going through it. */
interface StatementCounter {
  /** The database's address through the counter. */
  url: string;
  /** Statements executed so far, over all connections. */
  count(): number;
  stop(): Promise<void>;
}

/** Counts outside of the server and of the program, so that neither has to be set up for it. */
export async function startStatementCounter(databaseUrl: string): Promise<StatementCounter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let statements = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const reader = createStatementReader(() => {
      statements++;
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk) => {
      reader.push(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    count: () => statements,
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Reads what a client of PostgreSQL sends on one unencrypted connection, as far as counting statements needs it. */
interface StatementReader {
  /** Feeds sent bytes; calls back for each statement that is executed. */
  push(chunk: Buffer): void;
}

const simpleQuery = 'Q'.charCodeAt(0);
const execute = 'E'.charCodeAt(0);
const lengthBytes = 4;

export function createStatementReader(onStatement: () => void): StatementReader {
  let pending: Buffer = Buffer.alloc(0);
  // The first message of a connection has no type byte.
  let typeBytes = 0;
  return {
    push(chunk) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= typeBytes + lengthBytes) {
        const end = typeBytes + pending.readUInt32BE(typeBytes);
        if (pending.length < end) return;
        if (typeBytes === 1 && (pending[0] === simpleQuery || pending[0] === execute)) onStatement();
        typeBytes = 1;
        pending = pending.subarray(end);
      }
    },
  };
}

const shown = 14;

/** Begins again what `costliestStatements` tells. @throws when the server has not loaded `pg_stat_statements`. */
export async function forgetStatements(database: BenchDatabase): Promise<void> {
  await database.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await database.query(
    'SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = current_database()))',
  );
}

/** What the statements of this database took, the dearest first: µs per event, calls, blocks looked at per event. */
export async function costliestStatements(database: BenchDatabase, events: number): Promise<string[]> {
  const rows = await database.query<{ micros: number; calls: number; blocks: number; read: number; text: string }>(
    `SELECT (total_exec_time + total_plan_time) * 1000 / $1::float8 AS micros, calls::int AS calls,
            (shared_blks_hit + shared_blks_read) / $1::float8 AS blocks, shared_blks_read / $1::float8 AS read,
            left(regexp_replace(query, '\\s+', ' ', 'g'), 90) AS text
       FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND query NOT LIKE '%pg_stat%' AND query NOT LIKE '%pg_database_size%' AND query NOT LIKE '%AS count%'
      ORDER BY total_exec_time DESC LIMIT ${shown}`,
    [events],
  );
  return rows.map(
    ({ micros, calls, blocks, read, text }) =>
      `${micros.toFixed(2).padStart(7)} µs ${String(calls).padStart(6)} calls ${blocks.toFixed(2).padStart(6)} blocks ${read.toFixed(2).padStart(6)} read  ${text}`,
  );
}
