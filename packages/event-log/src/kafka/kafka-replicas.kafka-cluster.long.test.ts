import { isAppError } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import type { EventLog } from '../log.ts';
import { numbered, numbersByKey, range, readAll } from '../testing/contract-fixture.ts';
import { testLogger } from '../testing/test-logger.ts';
import { createKafkaLog } from './log.ts';
import { hasJava, type KafkaCluster, startKafkaCluster } from './testing/kafka-cluster.ts';

const describeWithJava = (await hasJava()) ? describe : describe.skip;

/** Tests acks=all with three replicas, two of which must be in sync. This is the recommended setup for production. */
describeWithJava('three brokers, min.insync.replicas=2', () => {
  const topic = 'replicated';
  const keys = range(0, 6).map((number) => `k${number}`);
  const acknowledged = new Map<string, number[]>(keys.map((key) => [key, []]));
  let cluster: KafkaCluster;
  let log: EventLog;
  let sent = 0;

  beforeAll(async () => {
    cluster = await startKafkaCluster({ nodes: 3 });
    log = createKafkaLog({
      ...{ brokers: cluster.brokers, clientId: 'replicas-test', logger: testLogger(), replicationFactor: 3 },
      topicConfig: { 'min.insync.replicas': '2' },
    });
    await eventually(() => log.ensureTopics([{ topic, partitions: 6 }]), { what: 'three brokers' });
  });
  afterAll(async () => {
    await log?.close();
    await cluster?.stop();
  });

  async function round(): Promise<string[]> {
    const number = sent++;
    return Promise.all(
      keys.map((key) =>
        log.append(numbered(topic, key, number, 1)).then(
          () => {
            acknowledged.get(key)?.push(number);
            return 'acknowledged';
          },
          (error: unknown) => (isAppError(error, 'unavailable') ? 'unavailable' : String(error)),
        ),
      ),
    );
  }

  async function allAcknowledged(): Promise<void> {
    await eventually(async () => (await round()).every((one) => one === 'acknowledged'), {
      what: 'every key acknowledged',
    });
  }

  test("reads a topic's end offsets immediately after creating it", async () => {
    for (const number of range(0, 5)) {
      const fresh = `fresh-${number}`;
      await log.ensureTopics([{ topic: fresh, partitions: 3 }]);
      expect(await log.endOffsets(fresh)).toMatchObject(range(0, 3).map((partition) => ({ partition, endOffset: 0n })));
    }
  });

  test('appends succeed with one broker down, fail within 3 s with two down, and then recover without data loss', async () => {
    await allAcknowledged();
    await cluster.kill(2);
    await allAcknowledged();
    await cluster.kill(1);
    // Until the leader notices that it is the only broker left, it waits for the other brokers and acknowledges
    // nothing.
    for (const _ of range(0, 2)) {
      // The promised limit is 3 s, but the test machine may be slow.
      const late = new Promise<string[]>((resolve) =>
        setTimeout(() => resolve(['undecided after 10 s']), 10_000).unref(),
      );
      expect(new Set(await Promise.race([round(), late]))).toEqual(new Set(['unavailable']));
    }
    await Promise.all([cluster.start(1), cluster.start(2)]);
    await allAcknowledged();

    const total = (await log.endOffsets(topic)).reduce((sum, { endOffset }) => sum + Number(endOffset), 0);
    const records = await readAll(log, topic, total);
    const numbers = numbersByKey(records.map(({ key, value }) => ({ key, value: value.toString() })));
    for (const key of keys) {
      const first = [...new Set(numbers.get(key))];
      expect(first).toEqual([...first].sort((a, b) => a - b));
      expect(first).toEqual(expect.arrayContaining(acknowledged.get(key) ?? []));
    }
  });
});
