import { type AddressInfo, connect, createServer } from 'node:net';

export interface DeafPooler {
  port: number;
  stop(): Promise<void>;
}

/** Passes everything but notifications, as a pooler does that gives each transaction another connection. */
export async function startDeafPooler(databaseUrl: string): Promise<DeafPooler> {
  const { hostname: host, port } = new URL(databaseUrl);
  const server = createServer((client) => {
    const upstream = connect({ host, port: Number(port || 5432) });
    let rest = Buffer.alloc(0);
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readInt32BE(1));
        rest = rest.subarray(message.length);
        if (message[0] !== 'A'.charCodeAt(0)) client.write(message);
      }
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy());
      one.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
