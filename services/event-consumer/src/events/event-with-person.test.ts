import { randomUUID } from 'node:crypto';
import { processBatch } from '../process-batch.ts';
import { capturedEvent, createConsumerFixture, logBatch } from '../testing/consumer-fixture.ts';

test('the view `event_with_person` returns every event with its current person', async () => {
  const fixture = await createConsumerFixture();
  try {
    const { id, token } = await fixture.createProject();
    const anonymous = { $process_person_profile: false };
    const events = [
      capturedEvent(token, { event: 'anonymous', distinct_id: 'visitor', properties: anonymous }),
      capturedEvent(token, { event: 'unknown', distinct_id: 'stranger', properties: anonymous }),
      capturedEvent(token, { event: 'as device', distinct_id: 'device', properties: { $set: { seen: 1 } } }),
      capturedEvent(token, {
        event: '$identify',
        distinct_id: 'user',
        properties: { $anon_distinct_id: 'visitor', $set: { plan: 'pro' } },
      }),
      capturedEvent(token, { event: '$create_alias', distinct_id: 'device', properties: { alias: 'user' } }),
    ];
    const batch = logBatch(randomUUID(), 0, events);
    await processBatch({ batch, group: 'g', deadLetterReason: null, lockFirst: false }, fixture.createDeps());
    const rows = await fixture.database.sql.query<{ event: string; main: string | null; properties: object | null }>(
      `SELECT event, person_main_distinct_id AS main, person_properties AS properties
         FROM event_with_person WHERE project_id = $1`,
      [id],
    );
    const person = { main: 'user', properties: expect.objectContaining({ plan: 'pro', seen: 1 }) };
    expect(rows.sort((a, b) => (a.event < b.event ? -1 : 1))).toEqual([
      { event: '$create_alias', ...person },
      { event: '$identify', ...person },
      { event: 'anonymous', ...person },
      { event: 'as device', ...person },
      { event: 'unknown', main: null, properties: null },
    ]);
  } finally {
    await fixture.stop();
  }
});
