import net from 'node:net';
import { createFaultProxy, eventually, testServers } from '@millrace/testing';
import { Kafka, logLevel } from 'kafkajs';
import { serverAddress } from '../../testing/adapters.ts';
import { createTrackedSockets } from './connection.ts';

test('closes the connections to a broker that does not respond, and kafkajs reconnects', async () => {
  const proxy = await createFaultProxy(serverAddress('kafka'));
  let lost = 0;
  const sockets = createTrackedSockets(
    ({ onConnect }) => net.connect({ host: proxy.host, port: proxy.port }, onConnect),
    () => {
      lost += 1;
    },
  );
  const admin = new Kafka({
    brokers: testServers().kafkaBrokers,
    logLevel: logLevel.NOTHING,
    requestTimeout: 500,
    retry: { retries: 0 },
    socketFactory: sockets.socketFactory,
  }).admin();
  admin.on('admin.network.request_timeout', ({ payload }) => sockets.destroy('request timed out', payload.broker));
  try {
    await eventually(() => admin.connect());
    await eventually(() => admin.listTopics());
    // On a slow machine, some requests may already have timed out.
    const lostAtFirst = lost;
    sockets.destroy('of another', 'elsewhere:1');
    expect(lost).toBe(lostAtFirst);

    proxy.blackHole();
    await expect(admin.listTopics()).rejects.toThrow();
    await eventually(() => lost > lostAtFirst, { what: 'The end of the silent connection' });
    await proxy.pass();
    await eventually(() => admin.listTopics(), { what: 'A response over a new connection' });

    const lostBefore = lost;
    sockets.retire('the client is given up');
    await expect(admin.listTopics()).rejects.toThrow();
    await eventually(() => proxy.connectionCount() === 0, { what: 'The end of all connections' });
    expect(lost).toBe(lostBefore);
  } finally {
    sockets.retire('the test is over');
    await admin.disconnect();
    await proxy.stop();
  }
});
