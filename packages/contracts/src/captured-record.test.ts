import { type CapturedEvent, computeRecordKey, encodeCapturedRecord } from './captured-record.ts';

test.each([
  ['live', 'phc_a:user-1'],
  ['overflow', 'phc_a:user-1'],
  // All records of a project's migration have the same key, so that they are processed in order
  // (docs/architecture.md#the-log).
  ['historical', 'phc_a'],
] as const)("a record's key in the %s topic is %s", (topic, expected) => {
  expect(computeRecordKey(topic, 'phc_a', 'user-1')).toBe(expected);
});

test("keeps the distinct ID unchanged in a record's key", () => {
  expect(computeRecordKey('live', 'phc_a', 'a:b ü👍')).toBe('phc_a:a:b ü👍');
});

test('encodes a record as UTF-8 JSON with the field names of the capture API', () => {
  const event: CapturedEvent = {
    kind: 'event',
    uuid: '01936b7e-0000-7000-8000-000000000000',
    token: 'phc_a',
    distinct_id: 'ü👍',
    event: '$pageview',
    timestamp: '2026-11-21T02:30:00.000Z',
    now: '2026-11-21T02:30:01.000Z',
    ip: null,
    $set: { plan: 'full' },
    properties: { nested: [1, { two: null }] },
  };
  const bytes = encodeCapturedRecord(event);
  expect(JSON.parse(bytes.toString('utf8'))).toEqual(event);
  expect(bytes.includes(Buffer.from('ü👍', 'utf8'))).toBe(true);
});
