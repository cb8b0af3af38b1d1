import { randomUUID } from 'node:crypto';
import { isAppError } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import type { LogBatch } from './log.ts';
import { type AdapterName, memberTimeoutMs } from './testing/adapters.ts';
import {
  type ContractFixture,
  createContractFixtures,
  numbered,
  numbersByKey,
  range,
  readAll,
} from './testing/contract-fixture.ts';
import { createExactHandler, readEffects, storedOffset } from './testing/effects.ts';

let fixtures: Record<AdapterName, ContractFixture>;
beforeAll(async () => {
  fixtures = await createContractFixtures();
});
afterAll(() => Promise.all(Object.values(fixtures).map((fixture) => fixture.stop())));

/**
 * Tests the promises of `EventLog`, with both adapters and real servers. For failing servers, see
 * event-log.faults.kafka.test.ts.
 */
describe.each<AdapterName>(['kafka', 'postgres'])('the event log on %s', (adapter) => {
  describe('appending to the event log', () => {
    test.concurrent("`append` keeps each key's order under concurrent calls, with each key in one partition", async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic();
      const keys = range(0, 30).map((number) => `token:person-${number}`);
      await Promise.all(
        range(0, 40).flatMap((round) => keys.map((key) => fixture.log.append(numbered(topic, key, round * 2, 2)))),
      );

      const records = await readAll(fixture.log, topic, 30 * 80);

      expect(records).toHaveLength(30 * 80);
      const numbers = numbersByKey(records.map(({ key, value }) => ({ key, value: value.toString() })));
      for (const key of keys) {
        expect(numbers.get(key)).toEqual(range(0, 80));
        expect(new Set(records.filter((record) => record.key === key).map(({ partition }) => partition)).size).toBe(1);
      }
    });

    test.concurrent('delivers all records from several processes, with each key in order', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(4);
      const group = randomUUID();
      await fixture.consume(topic, group, {}, fixture.open());
      const writers = [fixture.open(), fixture.open(), fixture.open()];
      await Promise.all(
        writers.flatMap((log, writer) =>
          range(0, 5).map(async (key) => {
            for (const number of range(0, 40)) {
              const records = [
                ...numbered(topic, `w${writer}-${key}`, number, 1),
                ...numbered(topic, `x${writer}-${key}`, number, 1),
              ];
              await log.append(writer === 1 ? records.reverse() : records);
            }
          }),
        ),
      );
      const effects = await fixture.effects(topic, group, 3 * 5 * 40 * 2);
      expect(effects).toHaveLength(3 * 5 * 40 * 2);
      for (const numbers of numbersByKey(effects).values()) expect(numbers).toEqual(range(0, 40));
    });

    test.concurrent("assigns consecutive offsets from 0 to a partition's records", async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      await Promise.all(range(0, 50).map((number) => fixture.log.append(numbered(topic, 'key', number, 1))));
      const records = await readAll(fixture.log, topic, 50);
      expect(records.map(({ offset }) => offset)).toEqual(range(0, 50).map(BigInt));
      expect(await fixture.log.endOffsets(topic)).toMatchObject([{ partition: 0, endOffset: 50n }]);
    });

    test.concurrent('spreads records without a key over all partitions', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(4);
      await fixture.log.append(
        range(0, 40).map((number) => ({ topic, key: null, value: Buffer.from(String(number)) })),
      );
      const ends = await fixture.log.endOffsets(topic);
      expect(ends.map(({ partition }) => partition)).toEqual([0, 1, 2, 3]);
      for (const { endOffset } of ends) expect(endOffset).toBe(10n);
      const [record] = await readAll(fixture.log, topic, 40);
      expect(record?.key).toBeNull();
    });

    test.concurrent('preserves any record values, keys and headers', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const everyByte = Buffer.from(range(0, 256));
      const before = Date.now();
      await fixture.log.append([
        { topic, key: 'a\0b\\0c\\"{}\u{1f600}é', value: everyByte, headers: { reason: 'ü "q" \\ \0', empty: '' } },
        { topic, key: '', value: Buffer.alloc(0) },
        {
          topic,
          key: 'x'.repeat(5000),
          value: Buffer.alloc(100_000, 7),
          headers: { ['n'.repeat(300)]: 'v'.repeat(9000) },
        },
      ]);
      const [first, second, third] = await readAll(fixture.log, topic, 3);
      expect(first?.key).toBe('a\0b\\0c\\"{}\u{1f600}é');
      expect(first?.value).toEqual(everyByte);
      expect(first?.headers).toEqual({ reason: 'ü "q" \\ \0', empty: '' });
      expect(first?.appendedAtMs).toBeGreaterThan(before - 60_000);
      expect(first?.appendedAtMs).toBeLessThan(Date.now() + 60_000);
      expect(second).toMatchObject({ key: '', value: Buffer.alloc(0), headers: {} });
      expect(third?.key).toBe('x'.repeat(5000));
      expect(third?.value).toEqual(Buffer.alloc(100_000, 7));
      expect(third?.headers).toEqual({ ['n'.repeat(300)]: 'v'.repeat(9000) });
    });

    test.concurrent('accepts a key with half a surrogate pair', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      await fixture.log.append([{ topic, key: 'a\ud800', value: Buffer.from('1'), headers: { h: '\udc00' } }]);
      const [record] = await readAll(fixture.log, topic, 1);
      expect(record).toMatchObject({ key: 'a\ufffd', headers: { h: '\ufffd' } });
    });

    test.concurrent('writes all records of an append call that exceeds one request, in order', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(2);
      const record = (number: number) => ({
        topic,
        key: 'one-key',
        value: Buffer.concat([Buffer.from(String(number).padStart(6, '0')), Buffer.alloc(400_000, number)]),
      });
      await fixture.log.append(range(0, 12).map(record));
      const records = await readAll(fixture.log, topic, 12);
      expect(records.map(({ value }) => Number(value.subarray(0, 6)))).toEqual(range(0, 12));
      expect(records.every(({ value }) => value.length === 400_006)).toBe(true);
    });

    test.concurrent('rejects an append call with a record that is too large, and writes none of its records', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const small = { topic, key: 'k', value: Buffer.from('small') };
      const large = { topic, key: 'k', value: Buffer.alloc(10_485_684) };
      const error = await fixture.log.append([small, large, small]).catch((reason: unknown) => reason);
      expect(isAppError(error, 'too_large')).toBe(true);
      expect(await fixture.log.endOffsets(topic)).toMatchObject([{ partition: 0, endOffset: 0n }]);
    });

    test.concurrent('accepts a record of the maximum size', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      // 10 MiB for a batch with one record, minus 61 bytes of batch overhead and 16 for the record's overhead and key.
      await fixture.log.append([{ topic, key: 'k', value: Buffer.alloc(10_485_683, 1) }]);
      const [record] = await readAll(fixture.log, topic, 1);
      expect(record?.value.length).toBe(10_485_683);
    });

    test.concurrent('`append` rejects immediately while too many bytes are in flight', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const log = fixture.open({ maxInFlightBytes: 100_000, lingerMs: 50 });
      const record = { topic, key: 'k', value: Buffer.alloc(60_000) };
      const first = log.append([record]);
      const error = await log.append([record]).catch((reason: unknown) => reason);
      expect(isAppError(error, 'unavailable') && error.retryAfterSeconds).toBeGreaterThan(0);
      await first;
      await log.append([record]);
      expect(await log.endOffsets(topic)).toMatchObject([{ partition: 0, endOffset: 2n }]);
    });

    test.concurrent('`append` accepts an empty list of records', async () => {
      const fixture = fixtures[adapter];
      await expect(fixture.log.append([])).resolves.toBeUndefined();
    });

    test.concurrent('rejects records for a missing topic, and still writes records for other topics', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const log = fixture.open({ appendTimeoutMs: 10_000 });
      const missing = log.append(numbered(`missing-${randomUUID()}`, 'k', 0, 1)).catch((reason: unknown) => reason);
      await log.append(numbered(topic, 'k', 0, 1));
      expect(isAppError(await missing, 'unavailable')).toBe(true);
      await log.append(numbered(topic, 'k', 1, 1));
      expect(await log.endOffsets(topic)).toMatchObject([{ partition: 0, endOffset: 2n }]);
    });
  });

  describe('creating topics', () => {
    test.concurrent('keeps an existing topic unchanged, even when two processes create it at the same time', async () => {
      const fixture = fixtures[adapter];
      const topic = `contract-${randomUUID()}`;
      const other = fixture.open();
      await Promise.all([
        fixture.log.ensureTopics([{ topic, partitions: 3 }]),
        other.ensureTopics([{ topic, partitions: 3 }]),
      ]);
      const added = `contract-${randomUUID()}`;
      await fixture.log.ensureTopics([
        { topic, partitions: 7 },
        { topic: added, partitions: 2 },
      ]);
      expect(await fixture.log.endOffsets(topic)).toHaveLength(3);
      expect(await fixture.log.endOffsets(added)).toHaveLength(2);
    });
  });

  test.concurrent('`endOffsets` rejects a topic that does not exist', async () => {
    const fixture = fixtures[adapter];
    const topic = `missing-${randomUUID()}`;
    const error = await fixture.log.endOffsets(topic).catch((reason: unknown) => reason);
    expect(isAppError(error, 'unavailable')).toBe(true);
    // The message must not suggest an outage if the actual cause is a wrong topic prefix.
    expect(String(error)).toContain(`has no topic ${topic}`);
  });

  describe('consuming the event log', () => {
    test.concurrent('delivers existing and new records in batches within the size limits', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(2);
      const group = randomUUID();
      await fixture.log.append(numbered(topic, 'a', 0, 100));
      const batches: LogBatch[] = [];
      const exact = createExactHandler(fixture.database, topic, group, 'test');
      await fixture.consume(topic, group, {
        maxBatchRecords: 30,
        async handler(batch) {
          batches.push(batch);
          return exact.handler(batch);
        },
      });
      await fixture.effects(topic, group, 100);
      await fixture.log.append(numbered(topic, 'a', 100, 50));
      const effects = await fixture.effects(topic, group, 150);
      expect(numbersByKey(effects)).toEqual(new Map([['a', range(0, 150)]]));
      for (const { records } of batches) expect(records.length).toBeLessThanOrEqual(30);
    });

    test.concurrent('ends a batch once its record values reach the byte limit', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const sizes: number[] = [];
      await fixture.log.append(range(0, 9).map(() => ({ topic, key: 'k', value: Buffer.alloc(40_000) })));
      const consumer = await fixture.consume(topic, randomUUID(), {
        maxBatchBytes: 100_000,
        startOffset: async () => null,
        async handler({ records }) {
          sizes.push(records.length);
          return { outcome: 'done', nextOffset: (records.at(-1)?.offset ?? 0n) + 1n };
        },
      });
      await eventually(() => sizes.reduce((sum, size) => sum + size, 0) >= 9, { what: 'nine records' });
      await consumer.stop();
      expect(sizes).toEqual([3, 3, 3]);
    });

    test.concurrent('continues from the stored offset, even if it was changed, or from the start if it was deleted', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const group = randomUUID();
      const consumeUntil = async (count: number) => {
        const consumer = await fixture.consume(topic, group);
        const effects = await fixture.effects(topic, group, count);
        await consumer.stop();
        return effects.map(({ value }) => Number(value));
      };
      await fixture.log.append(numbered(topic, 'k', 0, 20));
      expect(await consumeUntil(20)).toEqual(range(0, 20));
      await fixture.log.append(numbered(topic, 'k', 20, 5));
      expect(await consumeUntil(25)).toEqual(range(0, 25));

      await fixture.database.sql.query('DELETE FROM consumer_offset WHERE topic = $1', [topic]);
      expect(await consumeUntil(50)).toEqual([...range(0, 25), ...range(0, 25)]);

      await fixture.database.sql.query('UPDATE consumer_offset SET next_offset = 22 WHERE topic = $1', [topic]);
      expect(await consumeUntil(53)).toEqual([...range(0, 25), ...range(0, 25), 22, 23, 24]);
    });

    test.concurrent('continues from an offset that was moved while the consumer runs, after a stale batch', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const group = randomUUID();
      await fixture.log.append(numbered(topic, 'k', 0, 10));
      await fixture.consume(topic, group);
      await fixture.effects(topic, group, 10);
      await fixture.database.sql.query('UPDATE consumer_offset SET next_offset = 4 WHERE topic = $1', [topic]);
      await fixture.log.append(numbered(topic, 'k', 10, 1));
      const effects = await fixture.effects(topic, group, 17);
      expect(effects.map(({ value }) => Number(value))).toEqual([...range(0, 10), ...range(4, 7)]);

      await fixture.database.sql.query('DELETE FROM consumer_offset WHERE topic = $1', [topic]);
      await fixture.log.append(numbered(topic, 'k', 11, 1));
      const again = await fixture.effects(topic, group, 29);
      expect(again.map(({ value }) => Number(value)).slice(17)).toEqual(range(0, 12));
    });

    test.concurrent('delivers a batch again when its handler throws, and continues with other partitions', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(4);
      const group = randomUUID();
      const exact = createExactHandler(fixture.database, topic, group, 'test');
      let failuresLeft = 4;
      let othersDone = 0;
      await fixture.log.append([
        ...numbered(topic, 'bad', 0, 60),
        ...range(0, 20).flatMap((key) => numbered(topic, `good-${key}`, 0, 10)),
      ]);
      const badPartition = (await readAll(fixture.log, topic, 260)).find(({ key }) => key === 'bad')?.partition;
      await fixture.consume(topic, group, {
        maxBatchRecords: 20,
        async handler(batch) {
          if (batch.partition === badPartition && batch.records.some(({ value }) => value.toString() === '30')) {
            // Fail until the other partitions have finished, to prove that they do not wait for the failing partition.
            failuresLeft -= failuresLeft > 1 || othersDone > 0 ? 1 : 0;
            if (failuresLeft >= 0 && !(failuresLeft === 0 && othersDone > 0)) throw new Error('not yet');
          }
          const result = await exact.handler(batch);
          if (batch.partition !== badPartition) othersDone += batch.records.length;
          return result;
        },
      });
      const effects = await fixture.effects(topic, group, 260);
      expect(effects).toHaveLength(260);
      const numbers = numbersByKey(effects);
      expect(numbers.get('bad')).toEqual(range(0, 60));
      for (const key of range(0, 20)) expect(numbers.get(`good-${key}`)).toEqual(range(0, 10));
    });

    test.concurrent('continues after the records that the handler has finished, not from the start of the batch', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const seen: number[] = [];
      await fixture.log.append(numbered(topic, 'k', 0, 30));
      const consumer = await fixture.consume(topic, randomUUID(), {
        startOffset: async () => null,
        async handler({ records }) {
          const part = records.slice(0, 7);
          seen.push(...part.map(({ value }) => Number(value)));
          return { outcome: 'done', nextOffset: (part.at(-1)?.offset ?? 0n) + 1n };
        },
      });
      await eventually(() => seen.length >= 30, { what: 'thirty records' });
      await consumer.stop();
      expect(seen).toEqual(range(0, 30));
    });

    test.concurrent('processes at most `partitionConcurrency` slow batches at a time, and remains in its consumer group', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(4);
      const group = randomUUID();
      const exact = createExactHandler(fixture.database, topic, group, 'test');
      let inHand = 0;
      let maxInHand = 0;
      let calls = 0;
      let lookups = 0;
      for (const key of range(0, 40)) await fixture.log.append(numbered(topic, `key-${key}`, 0, 50));
      await fixture.consume(topic, group, {
        partitionConcurrency: 2,
        maxBatchRecords: 1000,
        startOffset(partition, log) {
          lookups += 1;
          return exact.startOffset(partition, log);
        },
        async handler(batch, context) {
          calls += 1;
          inHand += 1;
          maxInHand = Math.max(maxInHand, inHand);
          // The delay is longer than the timeout of a member that sends nothing.
          if (calls <= 2) await new Promise((resolve) => setTimeout(resolve, memberTimeoutMs * 1.5));
          expect(context.signal.aborted).toBe(false);
          inHand -= 1;
          return exact.handler(batch);
        },
      });
      const effects = await fixture.effects(topic, group, 2000);
      expect(effects).toHaveLength(2000);
      expect(maxInHand).toBe(2);
      // Each partition is looked up once. A member that had been removed from the group would look up its partitions
      // again when it rejoins.
      expect(lookups).toBe(4);
      for (const numbers of numbersByKey(effects).values()) expect(numbers).toEqual(range(0, 50));
    });

    test.concurrent('consumer groups read the same topic independently', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(2);
      const [one, two] = [randomUUID(), randomUUID()];
      await fixture.consume(topic, one);
      await fixture.consume(topic, two);
      await fixture.log.append(range(0, 10).flatMap((key) => numbered(topic, `k${key}`, 0, 5)));
      expect(await fixture.effects(topic, one, 50)).toHaveLength(50);
      expect(await fixture.effects(topic, two, 50)).toHaveLength(50);
    });

    test.concurrent('delivers records soon after another process appends them', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const group = randomUUID();
      await fixture.consume(topic, group);
      await fixture.open().append(numbered(topic, 'k', 0, 3));
      expect(await fixture.effects(topic, group, 3)).toHaveLength(3);
    });
  });

  describe('stopping consumers and closing the log', () => {
    test.concurrent('`stop` signals the handler, waits for the in-flight batch, and leaves nothing running', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(1);
      const group = randomUUID();
      const exact = createExactHandler(fixture.database, topic, group, 'test');
      await fixture.log.append(numbered(topic, 'k', 0, 30));
      let running = 0;
      let wasTold = false;
      const consumer = await fixture.consume(topic, group, {
        maxBatchRecords: 5,
        async handler(batch, { signal }) {
          running += 1;
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          wasTold = true;
          await new Promise((resolve) => setTimeout(resolve, 300));
          const result = await exact.handler(batch);
          running -= 1;
          return result;
        },
      });
      await eventually(() => running === 1, { what: 'a batch in hand' });
      await consumer.stop();
      expect({ running, wasTold }).toEqual({ running: 0, wasTold: true });
      expect((await readEffects(fixture.database, topic, group)).map(({ value }) => Number(value))).toEqual(
        range(0, 5),
      );
      expect(await storedOffset(fixture.database, topic, group, 0)).toBe(5n);

      const next = await fixture.consume(topic, group);
      expect((await fixture.effects(topic, group, 30)).map(({ value }) => Number(value))).toEqual(range(0, 30));
      await next.stop();
      await next.stop();
    });

    test.concurrent('`close` sends waiting records and rejects new ones', async () => {
      const fixture = fixtures[adapter];
      const topic = await fixture.createTopic(2);
      const log = fixture.open({ lingerMs: 500 });
      const appends = range(0, 20).map((number) => log.append(numbered(topic, `k${number}`, 0, 5)));
      await log.close();
      await Promise.all(appends);
      const ends = await fixture.log.endOffsets(topic);
      expect(ends.reduce((sum, { endOffset }) => sum + endOffset, 0n)).toBe(100n);
      const error = await log.append(numbered(topic, 'k', 0, 1)).catch((reason: unknown) => reason);
      expect(isAppError(error, 'unavailable')).toBe(true);
    });
  });
});
