import { type CapturedEvent, encodeCapturedRecord } from '@millrace/contracts';
import fc from 'fast-check';
import { arbitraryCaptured } from '../rule-cases/arbitrary-events.ts';
import { maxNesting } from '../values/json.ts';
import { parseAsWritten, parseRecord } from './parse.ts';

const event: CapturedEvent = {
  kind: 'event',
  uuid: '01890A5D-AC96-774B-BCCE-B302099A8057',
  token: 'phc_test',
  distinct_id: 'ü',
  event: '$pageview',
  timestamp: '2026-03-01T12:00:00.000Z',
  now: '2026-03-01T12:00:01.000Z',
  ip: '203.0.113.7',
  $set: { a: 1 },
  properties: { $current_url: 'https://x', 'schlüssel 🦊': { list: [1, 'two', null, true] } },
};

function asWritten(record: Buffer): { event: CapturedEvent; text: string | null } {
  const parsed = parseAsWritten(record);
  if (parsed === null) throw new Error('the record was not read');
  const { written, ...rest } = parsed;
  return {
    event: rest,
    text: written === undefined ? null : written.value.toString('utf8', written.start, written.end),
  };
}

function withProperties(text: string | Buffer): Buffer {
  const { properties: _, ...head } = event;
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"properties":`),
    Buffer.from(text as string),
    Buffer.from('}'),
  ]);
}

test('parses every event with the same result as the full parser', () => {
  const anyProperties = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
  fc.assert(
    fc.property(arbitraryCaptured, anyProperties, (captured, more) => {
      const record = encodeCapturedRecord({ ...captured, properties: { ...captured.properties, ...more } });
      // JSON.stringify writes `\u` only for characters that may have to be replaced. The full parser handles those.
      if (record.includes('\\u')) expect(parseAsWritten(record)).toBeNull();
      else expect(asWritten(record).event).toEqual(parseRecord(record));
    }),
  );
});

test("returns the received text of an event's properties", () => {
  const text = '{ "b":12345678901234567890,"a":"ü" }';
  expect(asWritten(withProperties(text)).text).toBe(text);
});

test.each(['{}', '{ }', '{"a":1e400}', `{"a":${'9'.repeat(100)}}`])(
  'does not return the properties %s as text to store',
  (text) => {
    expect(asWritten(withProperties(text)).text).toBeNull();
  },
);

test.each<[string, Buffer]>([
  ['is not JSON', Buffer.from('{"kind":,"properties":{}}')],
  ['contains a warning', Buffer.from('{"kind":"warning","properties":{}}')],
  ['has no properties', Buffer.from('{"kind":"event"}')],
  ['lacks a required field', Buffer.from('{"kind":"event","uuid":"x","properties":{}}')],
  ['has an escaped character', withProperties('{"a":"\\u0000"}')],
  ['is not UTF-8', withProperties(Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]))],
  [
    'has an earlier object with a member of the same name',
    encodeCapturedRecord({ ...event, $set: { a: 1, properties: {} } }),
  ],
  [
    'is nested too deeply',
    encodeCapturedRecord({
      ...event,
      $set: { list: JSON.parse(`${'['.repeat(maxNesting)}${']'.repeat(maxNesting)}`) },
    }),
  ],
  ['continues after its end', Buffer.concat([encodeCapturedRecord(event), Buffer.from(' ')])],
])('leaves a record that %s to the full parser', (_, record) => {
  expect(parseAsWritten(record)).toBeNull();
});

test.each<[string, string]>([
  ['not JSON', '{"a":}'],
  ['a list', '[1]'],
  ['null', 'null'],
  ['followed by another member', '{"a":1},"$unset":["b"]'],
  ['nested too deeply', `{"a":${'['.repeat(maxNesting - 1)}${']'.repeat(maxNesting - 1)}}`],
])('leaves a record whose properties are %s to the full parser', (_, text) => {
  expect(parseAsWritten(withProperties(text))).toBeNull();
});

test('allows the same nesting of properties as the full parser', () => {
  const deepest = `{"a":${'['.repeat(maxNesting - 2)}${']'.repeat(maxNesting - 2)}}`;
  expect(asWritten(withProperties(deepest)).text).toBe(deepest);
  expect(parseRecord(withProperties(deepest)).kind).toBe('event');
});
