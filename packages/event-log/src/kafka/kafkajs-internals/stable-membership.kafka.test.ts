import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { createFaultProxy, eventually, testServers } from '@millrace/testing';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { serverAddress } from '../../testing/adapters.ts';
import { type ContractFixture, createContractFixture, numbered, range } from '../../testing/contract-fixture.ts';
import { createExactHandler } from '../../testing/effects.ts';
import { testLogger } from '../../testing/test-logger.ts';
import { createKafkaLog } from '../log.ts';

let fixture: ContractFixture;
let admin: Admin;

beforeAll(async () => {
  fixture = await createContractFixture('kafka');
  admin = new Kafka({ brokers: testServers().kafkaBrokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
});
afterAll(async () => {
  await admin.disconnect();
  await fixture.stop();
});

async function membersOf(group: string): Promise<string[]> {
  const { groups } = await admin.describeGroups([group]);
  return (groups[0]?.members ?? []).map(({ memberId }) => memberId);
}

test.concurrent('a consumer keeps its group membership while brokers are unreachable for longer than kafkajs retries', async () => {
  const topic = await fixture.createTopic(2);
  const group = randomUUID();
  const proxy = await createFaultProxy(serverAddress('kafka'));
  const logger = testLogger();
  let crashes = 0;
  logger.warn = ((message: string) => {
    if (/^consumer was removed from its group/.test(message)) crashes += 1;
    return logger;
  }) as typeof logger.warn;
  const log = createKafkaLog({
    brokers: testServers().kafkaBrokers,
    clientId: 'test',
    logger,
    // If the member rejoined as a new member, all partitions would stop for this long while the group waits for the old
    // member.
    sessionTimeoutMs: 40_000,
    heartbeatIntervalMs: 300,
    fetchWaitMs: 100,
    socketFactory: ({ onConnect }) => net.connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
  });
  try {
    const consumer = await fixture.consume(topic, group, {}, log);
    await fixture.log.append(numbered(topic, 'k', 0, 3));
    await fixture.effects(topic, group, 3);
    const before = await membersOf(group);

    await proxy.refuse();
    await eventually(() => crashes > 0, { what: 'a crash of the client' });
    await fixture.log.append(numbered(topic, 'k', 3, 3));
    await proxy.pass();

    expect(await fixture.effects(topic, group, 6)).toHaveLength(6);
    expect(await membersOf(group)).toEqual(before);
    expect(before).toHaveLength(1);

    await consumer.stop();
    expect(await membersOf(group)).toEqual([]);
  } finally {
    await log.close();
    await proxy.stop();
  }
});

test.concurrent('a consumer whose session has expired rejoins as a new member', async () => {
  const topic = await fixture.createTopic(2);
  const group = randomUUID();
  const proxy = await createFaultProxy(serverAddress('kafka'));
  const log = createKafkaLog({
    brokers: testServers().kafkaBrokers,
    clientId: 'test',
    logger: testLogger(),
    sessionTimeoutMs: 6000,
    heartbeatIntervalMs: 300,
    fetchWaitMs: 100,
    socketFactory: ({ onConnect }) => net.connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
  });
  try {
    const consumer = await fixture.consume(topic, group, {}, log);
    const [before] = await membersOf(group);
    await proxy.refuse();
    await eventually(async () => (await membersOf(group)).length === 0, { what: 'an empty group' });
    await fixture.log.append(numbered(topic, 'k', 0, 3));
    await proxy.pass();
    expect(await fixture.effects(topic, group, 3)).toHaveLength(3);
    await eventually(async () => {
      const after = await membersOf(group);
      expect(after).toHaveLength(1);
      expect(after).not.toContain(before);
    });
    await consumer.stop();
  } finally {
    await log.close();
    await proxy.stop();
  }
});

test.concurrent('a consumer whose connection breaks while it joins does not join twice', async () => {
  const topic = await fixture.createTopic(2);
  const group = randomUUID();
  const proxy = await createFaultProxy(serverAddress('kafka'));
  const log = createKafkaLog({
    brokers: testServers().kafkaBrokers,
    clientId: 'test',
    logger: testLogger(),
    sessionTimeoutMs: 40_000,
    heartbeatIntervalMs: 300,
    fetchWaitMs: 100,
    socketFactory: ({ onConnect }) => net.connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
  });
  const exact = createExactHandler(fixture.database, topic, group, 'first');
  let isAtWork = false;
  let isReleased = false;
  await fixture.consume(topic, group, {
    ...exact,
    async handler(batch) {
      isAtWork = true;
      await eventually(() => isReleased, { what: 'release' });
      return exact.handler(batch);
    },
  });
  try {
    await fixture.log.append(numbered(topic, 'k', 0, 3));
    await eventually(() => isAtWork, { what: 'work' });
    // The group waits for the first member, whose handler is running.
    const joining = fixture.consume(topic, group, createExactHandler(fixture.database, topic, group, 'second'), log);
    await eventually(async () => (await membersOf(group)).length === 2, { what: 'a second member' });
    proxy.cut();
    await eventually(() => proxy.connectionCount() >= 2, { what: 'new connections' });
    isReleased = true;
    await joining;
    await fixture.log.append(range(0, 20).flatMap((key) => numbered(topic, `k${key}`, 0, 1)));
    expect(await fixture.effects(topic, group, 23)).toHaveLength(23);
    expect(await membersOf(group)).toHaveLength(2);
  } finally {
    isReleased = true;
    await log.close();
    await proxy.stop();
  }
});
