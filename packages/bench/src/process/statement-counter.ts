import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createStatementReader } from './statement-reader.ts';

/** A way to a PostgreSQL server that counts the statements going through it. */
export interface StatementCounter {
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
