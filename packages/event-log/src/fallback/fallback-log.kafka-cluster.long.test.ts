import { createDatabase, type Database } from '@millrace/db';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { createKafkaLog } from '../kafka/log.ts';
import { hasJava, type KafkaCluster, startKafkaCluster } from '../kafka/testing/kafka-cluster.ts';
import type { EventLog } from '../log.ts';
import { numbered, numbersByKey, range, readAll } from '../testing/contract-fixture.ts';
import { testLogger } from '../testing/test-logger.ts';
import { drainFallback } from './drain.ts';
import { createFallbackLog } from './log.ts';

const describeWithJava = (await hasJava()) ? describe : describe.skip;

describeWithJava('the fallback log', () => {
  const topics = ['topic-a', 'topic-b'];
  const fallback = 'test.fallback';
  let testDatabase: TestDatabase;
  let cluster: KafkaCluster;
  const databases: Database[] = [];
  let gateways: EventLog[];
  let kafkaOfDrains: EventLog;
  let reader: EventLog;

  function openDatabase(): Database {
    const limits = { poolSize: 6, connectTimeoutMs: 1000, queryTimeoutMs: 3000 };
    const database = createDatabase({ url: testDatabase.url, logger: testLogger(), ...limits });
    databases.push(database);
    return database;
  }
  const openKafka = () => createKafkaLog({ brokers: cluster.brokers, clientId: 'fallback-test', logger: testLogger() });
  const openGateway = () =>
    createFallbackLog({
      ...{ kafka: openKafka(), database: openDatabase(), topic: fallback, partitions: 3 },
      ...{ openAfterMs: 1500, logger: testLogger() },
    });
  const startDrain = () =>
    drainFallback({
      ...{ kafka: kafkaOfDrains, database: openDatabase(), topic: fallback, partitions: 3, logger: testLogger() },
      onFatal(error) {
        throw error;
      },
    });

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    cluster = await startKafkaCluster({ nodes: 1 });
    reader = openKafka();
    kafkaOfDrains = openKafka();
    await eventually(() => reader.ensureTopics(topics.map((topic) => ({ topic, partitions: 4 }))), { what: 'topics' });
    gateways = [openGateway(), openGateway()];
  });
  afterAll(async () => {
    await Promise.all([...(gateways ?? []), reader, kafkaOfDrains].map((log) => log?.close()));
    await Promise.all(databases.map((database) => database.stop()));
    await cluster?.stop();
    await testDatabase?.drop();
  });

  test('appends soon succeed again after the broker is killed under load, and keys keep their order', async () => {
    const keys = range(0, 24).map((number) => `k${number}`);
    const acknowledged = new Map<string, number[]>(keys.map((key) => [key, []]));
    let isOver = false;
    let total = 0;
    // The two gateways alternately send the records of each key. Each record is sent after the previous one is
    // acknowledged.
    const load = keys.map(async (key, place) => {
      const topic = topics[place % topics.length] ?? '';
      for (let number = 0; !isOver; number += 1) {
        for (let attempt = 0; ; attempt += 1) {
          const taken = await gateways[(number + attempt) % 2]?.append(numbered(topic, key, number, 1)).then(
            () => true,
            () => false,
          );
          if (taken) break;
          if (isOver) return;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        acknowledged.get(key)?.push(number);
        total += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    const more = async (count: number, what: string) => {
      const from = total;
      await eventually(() => total >= from + count, { what, describe: () => `${total - from}` });
    };
    const isOpen = async () => {
      const [row] = (await databases[0]?.sql.query<{ phase: string }>('SELECT phase FROM event_log_fallback')) ?? [];
      return row?.phase;
    };
    let drains = [startDrain(), startDrain()];

    await more(500, 'records in Kafka');
    for (const _ of range(0, 2)) {
      await cluster.kill(0);
      await eventually(async () => (await isOpen()) === 'open', { what: 'an open fallback' });
      await more(2000, 'records in the fallback');
      await Promise.all([cluster.start(0), drains[0]?.stop()]);
      drains = [startDrain(), ...drains.slice(1)];
      await eventually(async () => (await isOpen()) === 'closed', { what: 'a closed fallback' });
      await more(500, 'records in Kafka again');
    }
    isOver = true;
    await Promise.all(load);
    await Promise.all(drains.map((drain) => drain.stop()));

    for (const topic of topics) {
      const count = (await reader.endOffsets(topic)).reduce((sum, { endOffset }) => sum + Number(endOffset), 0);
      const records = await readAll(reader, topic, count);
      expect(new Set(records.flatMap(({ headers }) => Object.keys(headers)))).toEqual(new Set());
      const numbers = numbersByKey(records.map(({ key, value }) => ({ key, value: value.toString() })));
      for (const [key, sent] of acknowledged) {
        if (topics[keys.indexOf(key) % topics.length] !== topic) continue;
        // A record may have been written twice, so only its first occurrence counts for the order.
        const first = [...new Set(numbers.get(key))];
        expect(first).toEqual([...first].sort((a, b) => a - b));
        expect(first).toEqual(expect.arrayContaining(sent));
      }
    }
  }, 240_000);
});

test('the fallback leaves no timers behind, and rejects large events until Kafka is available again', async () => {
  const testDatabase = await createTestDatabase();
  const database = createDatabase({ url: testDatabase.url, logger: testLogger(), poolSize: 4, queryTimeoutMs: 3000 });
  const gateway = createFallbackLog({
    kafka: createKafkaLog({ brokers: ['127.0.0.1:1'], clientId: 'fallback-test', logger: testLogger() }),
    ...{ database, topic: 'test.fallback', partitions: 3, openAfterMs: 500, logger: testLogger() },
  });
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  try {
    const append = (number: number) => gateway.append(numbered('topic', 'k', number, 1));
    await eventually(() => append(0), { what: 'an open fallback' });
    const before = timers();
    for (const number of range(1, 200)) await append(number);
    expect(timers()).toBeLessThan(before + 50);

    // The fallback must reject a record that does not fit into every Kafka topic, because the record would stop the
    // copying.
    const large = { topic: 'topic', key: 'k', value: Buffer.alloc(2_000_000) };
    await expect(gateway.append([large])).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 30 });
    await append(201);
  } finally {
    await gateway.close();
    await database.stop();
    await testDatabase.drop();
  }
});
