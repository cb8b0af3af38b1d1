import { randomUUID } from 'node:crypto';
import { isAppError } from '@millrace/runtime';
import { createFaultProxy, eventually, type FaultProxy } from '@millrace/testing';
import type { EventLog } from './log.ts';
import { type AdapterName, openLog, serverAddress } from './testing/adapters.ts';
import {
  type ContractFixture,
  createContractFixtures,
  numbered,
  numbersByKey,
  range,
  readAll,
} from './testing/contract-fixture.ts';
import { createExactHandler } from './testing/effects.ts';

let fixtures: Record<AdapterName, ContractFixture>;
beforeAll(async () => {
  fixtures = await createContractFixtures();
});
afterAll(() => Promise.all(Object.values(fixtures).map((fixture) => fixture.stop())));

interface Faulty {
  fixture: ContractFixture;
  proxy: FaultProxy;
  log: EventLog;
}

/**
 * Tests the promises of `EventLog` while its server is down, does not respond or is disconnected, with both adapters.
 */
describe.each<AdapterName>(['kafka', 'postgres'])(
  'the event log on %s while its server is down or unresponsive',
  (adapter) => {
    const testFaulty = (name: string, run: (faulty: Faulty) => Promise<void>) =>
      test.concurrent(name, async () => {
        const fixture = fixtures[adapter];
        const proxy = await createFaultProxy(serverAddress(adapter));
        const { log, close } = openLog(adapter, fixture.databaseUrl, { proxyPort: proxy.port });
        try {
          await run({ fixture, proxy, log });
        } finally {
          await close();
          await proxy.stop();
        }
      });

    /** `append` promises to settle within 3 s. The limit here is longer because the test machine may be slow. */
    async function unavailableInTime(appending: Promise<void>): Promise<void> {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(() => resolve('still undecided after 10 s'), 10_000);
      });
      const outcome = await Promise.race([
        appending.then(
          () => 'acknowledged',
          (error: unknown) => error,
        ),
        late,
      ]);
      clearTimeout(timer);
      expect(isAppError(outcome, 'unavailable') ? 'unavailable' : outcome).toBe('unavailable');
      expect(isAppError(outcome) && outcome.retryAfterSeconds).toBeGreaterThan(0);
    }

    async function appendsAgain(log: EventLog, topic: string): Promise<void> {
      await eventually(() => log.append(numbered(topic, 'after', 0, 1)), { what: 'an acknowledged append' });
      await eventually(() => log.isHealthy(), { what: 'health' });
    }

    testFaulty(
      'the log rejects appends within 3 s while the server refuses connections, and recovers automatically',
      async ({ fixture, proxy, log }) => {
        const topic = await fixture.createTopic(2);
        await eventually(() => log.append(numbered(topic, 'before', 0, 1)));
        expect(log.isHealthy()).toBe(true);
        await proxy.refuse();
        await Promise.all(
          range(0, 20).map((number) => unavailableInTime(log.append(numbered(topic, `k${number}`, 0, 1)))),
        );
        expect(log.isHealthy()).toBe(false);
        await proxy.pass();
        // A log that is not ready receives no traffic, so it must become ready without an append.
        await eventually(() => log.isHealthy(), { what: 'health without traffic' });
        await appendsAgain(log, topic);
      },
    );

    testFaulty(
      'the log rejects appends within 3 s while the server is unresponsive, and recovers automatically',
      async ({ fixture, proxy, log }) => {
        const topic = await fixture.createTopic(2);
        await eventually(() => log.append(numbered(topic, 'before', 0, 1)));
        proxy.blackHole();
        for (const round of range(0, 3)) {
          await Promise.all(range(0, 5).map((n) => unavailableInTime(log.append(numbered(topic, `k${n}`, round, 1)))));
        }
        expect(log.isHealthy()).toBe(false);
        await proxy.pass();
        await appendsAgain(log, topic);
      },
    );

    testFaulty(
      'the log rejects appends within 3 s if the server is unavailable from the start, and recovers automatically',
      async ({ fixture, proxy }) => {
        const topic = await fixture.createTopic(1);
        proxy.blackHole();
        const silent = openLog(adapter, fixture.databaseUrl, { proxyPort: proxy.port });
        await unavailableInTime(silent.log.append(numbered(topic, 'k', 0, 1)));
        await proxy.refuse();
        await unavailableInTime(silent.log.append(numbered(topic, 'k', 0, 1)));
        await proxy.pass();
        await eventually(() => silent.log.append(numbered(topic, 'k', 0, 1)), { what: 'an acknowledged append' });
        await silent.close();
      },
    );

    testFaulty(
      'the log enforces the byte budget while it cannot send records, and releases the budget afterwards',
      async ({ fixture, proxy }) => {
        const topic = await fixture.createTopic(1);
        const small = openLog(adapter, fixture.databaseUrl, { proxyPort: proxy.port, maxInFlightBytes: 50_000 });
        await eventually(() => small.log.append(numbered(topic, 'k', 0, 1)));
        proxy.blackHole();
        const record = { topic, key: 'k', value: Buffer.alloc(20_000) };
        const waiting = [small.log.append([record]), small.log.append([record])].map(unavailableInTime);
        await unavailableInTime(small.log.append([record]));
        await Promise.all(waiting);
        await proxy.pass();
        await eventually(() => Promise.all([small.log.append([record]), small.log.append([record])]), {
          what: 'room for two records',
        });
        await small.close();
      },
    );

    testFaulty(
      'the log keeps acknowledged records and the order of each key when connections break under load',
      async ({ fixture, proxy, log }) => {
        const topic = await fixture.createTopic(4);
        const keys = range(0, 20).map((number) => `k${number}`);
        const acknowledged = new Map<string, number[]>(keys.map((key) => [key, []]));
        let isOver = false;
        const cutting = (async () => {
          for (let cuts = 0; cuts < 6; cuts += 1) {
            await new Promise((resolve) => setTimeout(resolve, 150));
            proxy.cut();
          }
          isOver = true;
        })();
        await Promise.all(
          keys.map(async (key) => {
            for (let number = 0; !isOver || number < 50; number += 1) {
              await log.append(numbered(topic, key, number, 1)).then(
                () => acknowledged.get(key)?.push(number),
                () => {},
              );
            }
          }),
        );
        await cutting;

        const count = (await fixture.log.endOffsets(topic)).reduce((sum, { endOffset }) => sum + Number(endOffset), 0);
        const records = await readAll(fixture.log, topic, count);
        const numbers = numbersByKey(records.map(({ key, value }) => ({ key, value: value.toString() })));
        for (const key of keys) {
          // A retried request may have been written twice, so only each record's first occurrence counts for the order.
          const first = [...new Set(numbers.get(key))];
          expect(first).toEqual([...first].sort((a, b) => a - b));
          expect(first).toEqual(expect.arrayContaining(acknowledged.get(key) ?? []));
        }
        expect([...acknowledged.values()].flat().length).toBeGreaterThan(keys.length * 20);
      },
    );

    testFaulty(
      'a consumer continues automatically after cut, dead and silent connections, and processes each record once',
      async ({ fixture, proxy, log }) => {
        const topic = await fixture.createTopic(4);
        const group = randomUUID();
        const fatal: Error[] = [];
        const consumer = await log.consume({
          topic,
          group,
          maxBatchRecords: 50,
          maxBatchBytes: 1_000_000,
          partitionConcurrency: 4,
          ...createExactHandler(fixture.database, topic, group, 'test'),
          onFatal: (error) => fatal.push(error),
        });
        const keys = range(0, 12).map((number) => `k${number}`);
        let rounds = 0;
        const appendAndSee = async () => {
          await fixture.log.append(keys.flatMap((key) => numbered(topic, key, rounds, 1)));
          rounds += 1;
        };
        const allSeen = () =>
          eventually(async () => (await fixture.effects(topic, group, 0)).length >= keys.length * rounds, {
            what: 'all effects',
            describe: async () => `${(await fixture.effects(topic, group, 0)).length} of ${keys.length * rounds}`,
          });
        await appendAndSee();
        await allSeen();

        proxy.cut();
        await appendAndSee();
        await allSeen();

        await proxy.refuse();
        await appendAndSee();
        await new Promise((resolve) => setTimeout(resolve, 3000));
        await proxy.pass();
        await allSeen();

        proxy.blackHole();
        await appendAndSee();
        await new Promise((resolve) => setTimeout(resolve, 3000));
        await proxy.pass();
        await allSeen();

        const effects = await fixture.effects(topic, group, keys.length * rounds);
        expect(effects).toHaveLength(keys.length * rounds);
        for (const numbers of numbersByKey(effects).values()) expect(numbers).toEqual(range(0, rounds));
        expect(fatal).toEqual([]);
        await consumer.stop();
      },
    );

    testFaulty('close ends within a bounded time while the server is unresponsive', async ({ fixture, proxy, log }) => {
      const topic = await fixture.createTopic(1);
      await eventually(() => log.append(numbered(topic, 'k', 0, 1)));
      proxy.blackHole();
      const appending = unavailableInTime(log.append(numbered(topic, 'k', 1, 1)));
      await log.close();
      await appending;
    });
  },
);
