import { randomUUID } from 'node:crypto';
import { processBatch } from '../process-batch.ts';
import { capturedEvent, createConsumerBed, logBatch } from '../testing/consumer-bed.ts';

test('the view event_with_person gives every event the person it belongs to now', async () => {
  const bed = await createConsumerBed();
  try {
    const { id, token } = await bed.createProject();
    const anonymous = { $process_person_profile: false };
    const events = [
      capturedEvent(token, { event: 'anonymous', distinct_id: 'visitor', properties: anonymous }),
      capturedEvent(token, { event: 'nobody', distinct_id: 'stranger', properties: anonymous }),
      capturedEvent(token, { event: 'as device', distinct_id: 'device', properties: { $set: { seen: 1 } } }),
      capturedEvent(token, {
        event: '$identify',
        distinct_id: 'user',
        properties: { $anon_distinct_id: 'visitor', $set: { plan: 'pro' } },
      }),
      capturedEvent(token, { event: '$create_alias', distinct_id: 'device', properties: { alias: 'user' } }),
    ];
    const batch = logBatch(randomUUID(), 0, events);
    await processBatch({ batch, group: 'g', verdict: null, lockFirst: false }, bed.createDeps());
    const rows = await bed.database.sql.query<{ event: string; main: string | null; properties: object | null }>(
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
      { event: 'nobody', main: null, properties: null },
    ]);
  } finally {
    await bed.stop();
  }
});
