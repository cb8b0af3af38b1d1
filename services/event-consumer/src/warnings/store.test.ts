import { randomUUID } from 'node:crypto';
import { type ConsumerFixture, createConsumerFixture } from '../testing/consumer-fixture.ts';
import { insertWarnings } from './store.ts';
import { toGatewayWarning, toRuleWarning } from './warnings.ts';

let fixture: ConsumerFixture;
beforeAll(async () => {
  fixture = await createConsumerFixture();
});
afterAll(() => fixture.stop());

const now = '2026-11-21T02:30:00.000Z';
const event = { projectId: 1, uuid: randomUUID(), capturedAtMs: Date.parse(now) };

test('stores a repeatedly reported warning once, with its severity', async () => {
  const found = toRuleWarning({ type: 'invalid_group_set', details: { received: 'string' } }, event);
  const other = toRuleWarning({ type: 'invalid_alias', details: {} }, event);
  await fixture.database.transaction((tx) => insertWarnings(tx, [found, other]));
  await fixture.database.transaction((tx) => insertWarnings(tx, [{ ...found, details: { received: 'again' } }, found]));
  const stored = await fixture.database.prisma.ingestion_warning.findMany({
    where: { project_id: 1 },
    orderBy: { type: 'asc' },
  });
  expect(stored).toEqual([
    expect.objectContaining({ type: 'invalid_alias', severity: 'error', count: 1 }),
    {
      project_id: 1,
      id: found.id,
      type: 'invalid_group_set',
      severity: 'warning',
      details: { received: 'string' },
      count: 1,
      timestamp: new Date(now),
      stored_at: expect.any(Date),
    },
  ]);
});

test('keeps the ID and the count of a warning from the gateway', async () => {
  const uuid = randomUUID();
  const details = { samples: [{ index: 3, event: 'x', uuid: null }] };
  const warning = toGatewayWarning(
    { kind: 'warning', uuid, token: 't', type: 'missing_distinct_id', count: 12, now, details },
    2,
  );
  await fixture.database.transaction((tx) => insertWarnings(tx, [warning]));
  expect(await fixture.database.prisma.ingestion_warning.findMany({ where: { project_id: 2 } })).toEqual([
    {
      project_id: 2,
      id: uuid,
      type: 'missing_distinct_id',
      severity: 'error',
      details,
      count: 12,
      timestamp: new Date(now),
      stored_at: expect.any(Date),
    },
  ]);
});
