import net from 'node:net';
import { testServers } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { serverAddress } from '../../testing/adapters.ts';
import { resetConnectionBuffers } from './connection.ts';

/** Starts a proxy to the broker that can cut off a response in the middle, as if the broker's machine had failed. */
async function startCuttingProxy() {
  const { targetHost: host, targetPort } = serverAddress('kafka');
  let passes = Number.POSITIVE_INFINITY;
  let cuts = 0;
  const proxy = net.createServer((client) => {
    const server = net.connect({ host, port: targetPort });
    client.pipe(server);
    server.on('data', (chunk) => {
      const part = chunk.subarray(0, passes);
      passes -= part.length;
      client.write(part);
      if (part.length === chunk.length) return;
      cuts += 1;
      passes = Number.POSITIVE_INFINITY;
      server.removeAllListeners('data').destroy();
      client.end();
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => other.end());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as net.AddressInfo).port,
    cutAfter(bytes: number) {
      passes = bytes;
    },
    cuts: () => cuts,
    stop: () => new Promise<void>((resolve) => proxy.close(() => resolve())),
  };
}

test('a partial response from a cut connection does not affect the next connection', async () => {
  resetConnectionBuffers();
  const proxy = await startCuttingProxy();
  const kafka = new Kafka({
    brokers: testServers().kafkaBrokers,
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
    socketFactory: ({ onConnect }) => net.connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const known = await admin.describeCluster();
    // The number of bytes after which the response is cut off: within the length field, after it, and within the
    // content.
    for (const [index, bytes] of [2, 4, 6, 30].entries()) {
      proxy.cutAfter(bytes);
      // `describeCluster` usually sends two requests, and kafkajs hides the error of the second one.
      await expect(admin.describeCluster()).rejects.toThrow();
      expect(proxy.cuts()).toBe(index + 1);
      expect(await admin.describeCluster()).toEqual(known);
    }
  } finally {
    await admin.disconnect();
    await proxy.stop();
  }
});
