import { createMetrics, isAppError } from '@millrace/runtime';
import { createFaultProxy, eventually, type FaultProxy } from '@millrace/testing';
import type { AppendRecord, EventLog } from '../log.ts';
import { type AdapterName, openLog, serverAddress } from '../testing/adapters.ts';
import { type ContractFixture, createContractFixture, numbered, range } from '../testing/contract-fixture.ts';
import { testLogger } from '../testing/test-logger.ts';
import { withAppendBreaker } from './breaker.ts';

describe.each<AdapterName>(['kafka', 'postgres'])('the append circuit breaker with a log on %s', (adapter) => {
  let fixture: ContractFixture;
  let proxy: FaultProxy;
  let log: EventLog;
  let closeLog: () => Promise<void>;
  let reached: number;
  let breaker: EventLog;
  let metrics: ReturnType<typeof createMetrics>;
  let topic: string;

  beforeAll(async () => {
    fixture = await createContractFixture(adapter);
  });
  afterAll(() => fixture.stop());

  beforeEach(async () => {
    proxy = await createFaultProxy(serverAddress(adapter));
    ({ log, close: closeLog } = openLog(adapter, fixture.databaseUrl, { proxyPort: proxy.port }));
    metrics = createMetrics({ withProcessMetrics: false });
    reached = 0;
    const counting = {
      ...log,
      append(records: AppendRecord[]) {
        reached += 1;
        return log.append(records);
      },
    };
    breaker = withAppendBreaker(counting, { logger: testLogger(), metrics });
    topic = await fixture.createTopic(2);
    await eventually(() => breaker.append(numbered(topic, 'before', 0, 1)));
  });
  afterEach(async () => {
    await closeLog();
    await proxy.stop();
  });

  const attempts = (count: number, key = 'k') =>
    Promise.all(
      range(0, count).map((number) =>
        breaker.append(numbered(topic, `${key}${number}`, 0, 1)).then(
          () => 'acknowledged',
          (error: unknown) => {
            if (!isAppError(error, 'unavailable')) throw error;
            expect(error.retryAfterSeconds).toBeGreaterThan(0);
            return 'unavailable';
          },
        ),
      ),
    );
  const isOpen = async () =>
    (await metrics.registry.getSingleMetric('millrace_log_breaker_open')?.get())?.values[0]?.value;

  test.each(['refuse', 'blackHole'] as const)(
    'after %s, the breaker tries one append at a time, fails all others immediately, and closes automatically',
    async (fault) => {
      expect(await isOpen()).toBe(0);
      await proxy[fault]();
      expect(new Set(await attempts(3))).toEqual(new Set(['unavailable']));
      await eventually(
        async () => {
          await attempts(3);
          return (await isOpen()) === 1;
        },
        { what: 'the open breaker' },
      );

      // While the breaker is open, only the probe may reach the log or use memory.
      const before = reached;
      expect(new Set(await attempts(500))).toEqual(new Set(['unavailable']));
      expect(reached - before).toBeLessThanOrEqual(1);

      await proxy.pass();
      await eventually(async () => (await attempts(1)).includes('acknowledged'), { what: 'an acknowledged append' });
      expect(await isOpen()).toBe(0);
      await eventually(async () => expect(new Set(await attempts(50, 'after'))).toEqual(new Set(['acknowledged'])));
    },
  );

  test('errors that are caused by the records do not open the breaker', async () => {
    const tooLarge = { topic, key: 'k', value: Buffer.alloc(11_000_000) };
    for (let i = 0; i < 10; i++) {
      await expect(breaker.append([tooLarge])).rejects.toMatchObject({ kind: 'too_large' });
    }
    expect(await isOpen()).toBe(0);
    await breaker.append([]);
    await eventually(() => breaker.append(numbered(topic, 'after', 0, 1)));
  });

  test('the breaker opens at the third failure, however long the first two take', async () => {
    metrics = createMetrics({ withProcessMetrics: false });
    breaker = withAppendBreaker(log, { logger: testLogger(), metrics, openAfterMs: 1 });
    await proxy.blackHole();
    expect(await attempts(2)).toEqual(['unavailable', 'unavailable']);
    expect(await isOpen()).toBe(0);
    expect(await attempts(1)).toEqual(['unavailable']);
    expect(await isOpen()).toBe(1);
  });

  test('one failure among successful appends does not open the breaker', async () => {
    await proxy.blackHole();
    const failing = attempts(1);
    expect(await failing).toEqual(['unavailable']);
    await proxy.pass();
    await eventually(async () => (await attempts(1)).includes('acknowledged'), { what: 'an acknowledged append' });
    expect(await isOpen()).toBe(0);
  });
});
