import { checkLine } from './check-line.ts';

const good = { event: 'a', distinct_id: 'b', timestamp: '2020-01-31T12:00:00Z' };

function check(text: string | Buffer | null) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const checked = checkLine({ number: 7, bytes, raw: [], endOffset: 0 });
  if (checked.kind !== 'invalid') return checked.kind;
  expect(checked.fault.line).toBe(7);
  return [checked.fault.field, checked.fault.reason];
}
const checkEvent = (changes: object) => check(JSON.stringify({ ...good, ...changes }));

test.each([
  {},
  { distinct_id: 42 },
  { distinct_id: undefined, properties: { distinct_id: 'b' } },
  { distinct_id: null, properties: { $distinct_id: 'b' } },
  { $set: null, $set_once: { a: 1 }, properties: {}, extra: [1] },
  { uuid: '0190a6c1-0000-7000-8000-00000000abcd' },
  { uuid: '0190A6C100007000800000000000ABCD' },
  { uuid: null },
  { uuid: '' },
  { timestamp: '2020-02-29' },
  { timestamp: '2020-01-31 12:00' },
  { timestamp: '2020-01-31T12:00:00.123456+05:30' },
  { timestamp: '2020-01-31T12:00:00+0100' },
])('can be imported: %j', (changes) => {
  expect(checkEvent(changes)).toBe('event');
});

test.each([
  [{ event: undefined }, 'event', 'missing'],
  [{ event: '' }, 'event', 'empty'],
  [{ event: 5 }, 'event', 'must be a text'],
  [{ distinct_id: undefined }, 'distinct_id', 'missing'],
  [{ distinct_id: null }, 'distinct_id', 'missing'],
  [{ distinct_id: '  ' }, 'distinct_id', 'empty'],
  [{ distinct_id: '', properties: { distinct_id: 'b' } }, 'distinct_id', 'empty'],
  [{ distinct_id: { a: 1 } }, 'distinct_id', 'must be a text or a number'],
  [{ timestamp: undefined }, 'timestamp', 'missing'],
  [{ timestamp: 1_580_472_000 }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ timestamp: 'yesterday' }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ timestamp: '2021-02-29' }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ timestamp: '2020-01-31T25:00:00Z' }, 'timestamp', expect.stringContaining('ISO 8601')],
  [{ properties: [] }, 'properties', 'must be an object'],
  [{ properties: null }, 'properties', 'must be an object'],
  [{ $set: 'a' }, '$set', 'must be an object'],
  [{ uuid: 'nope' }, 'uuid', 'must be a UUID'],
  [{ uuid: 5 }, 'uuid', 'must be a UUID'],
])('cannot be imported: %j', (changes, field, reason) => {
  expect(checkEvent(changes)).toEqual([field, reason]);
});

test.each([
  ['', 'blank'],
  [' \t', 'blank'],
  ['{', [null, 'not JSON']],
  ['[]', [null, 'not a JSON object; one event per line']],
  ['null', [null, 'not a JSON object; one event per line']],
  [Buffer.from([0x7b, 0xff, 0x7d]), [null, 'not UTF-8 text']],
  [null, [null, 'longer than a request may be']],
])('the line %j', (line, expected) => {
  expect(check(line)).toEqual(expected);
});
