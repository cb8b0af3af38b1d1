import { randomUUID } from 'node:crypto';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { eventually } from '../eventually.ts';
import { testServers } from '../test-servers.ts';
import { type KafkaFaultProxy, startKafkaFaultProxy } from './kafka-fault-proxy.ts';

/** Clients must never bypass the proxy, because the fault tests rely on it. */
let proxy: KafkaFaultProxy;
const topic = `t-${randomUUID()}.proxy`;
let direct: Admin;

function throughProxy(requestTimeout: number, retries: number) {
  const { brokers } = proxy;
  const connectionTimeout = requestTimeout;
  return new Kafka({ brokers, logLevel: logLevel.NOTHING, requestTimeout, connectionTimeout, retry: { retries } });
}

beforeAll(async () => {
  direct = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  proxy = await startKafkaFaultProxy(testServers().kafkaBrokers);
  await direct.connect();
  await direct.createTopics({ topics: [{ topic, numPartitions: 2 }] });
});

afterAll(async () => {
  await direct.deleteTopics({ topics: [topic] });
  await direct.disconnect();
  await proxy.stop();
});

test("hides the broker's address from clients", async () => {
  const client = throughProxy(30_000, 5);
  const [producer, admin] = [client.producer(), client.admin()];
  const consumer = client.consumer({ groupId: `t-${randomUUID()}` });
  const received: string[] = [];
  await Promise.all([producer.connect(), consumer.connect(), admin.connect()]);
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => void received.push(String(message.value)) });
  await producer.send({ topic, messages: [{ value: 'one' }, { value: 'two' }] });
  await eventually(() => received.length === 2, { what: 'Receiving both messages' });
  const { brokers } = await admin.describeCluster();
  expect(
    brokers
      .map(({ host, port }) => `${host}:${port}`)
      .every((address) => !testServers().kafkaBrokers.includes(address)),
  ).toBe(true);
  await Promise.all([producer.disconnect(), consumer.disconnect(), admin.disconnect()]);
});

test.each(['refuse', 'blackHole'] as const)('%s interrupts a connected client until pass is called', async (fault) => {
  const producer = throughProxy(2000, 0).producer();
  // Retry, because connecting on a busy machine may take longer than the short timeout.
  await eventually(() => producer.connect(), { what: 'Connecting' });
  await eventually(() => producer.send({ topic, messages: [{ value: 'before' }] }), { what: 'Sending' });
  await proxy[fault]();
  await expect(producer.send({ topic, messages: [{ value: 'during' }] })).rejects.toThrow();
  await proxy.pass();
  await eventually(() => producer.send({ topic, messages: [{ value: 'after' }] }), {
    what: 'Sending after the fault',
  });
  await producer.disconnect();
});
