import { type CapturedEvent, encodeCapturedRecord } from '@millrace/contracts';
import fc from 'fast-check';
import { arbitraryCaptured } from '../rule-cases/arbitrary-events.ts';
import { maxNesting } from '../values/clean-json.ts';
import { parseRecord } from './parse-record.ts';
import { isUnparsed, parseHead, parseProperties, type UnparsedEvent, UnreadableProperties } from './unparsed-event.ts';

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

function headOf(record: Buffer): UnparsedEvent {
  const head = parseHead(record);
  if (head === null) throw new Error('the head was not read');
  return head;
}

/** The record with other bytes for its properties. */
function withProperties(text: string | Buffer): Buffer {
  const { properties: _, ...head } = event;
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"properties":`),
    Buffer.from(text as string),
    Buffer.from('}'),
  ]);
}

test('head and properties of any event are those of the whole', () => {
  const anyProperties = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
  fc.assert(
    fc.property(arbitraryCaptured, anyProperties, (captured, more) => {
      const record = encodeCapturedRecord({ ...captured, properties: { ...captured.properties, ...more } });
      const head = parseHead(record);
      if (head === null) {
        // The only thing JSON.stringify writes that a reader may have to clean.
        expect(record.includes('\\u')).toBe(true);
        return;
      }
      const { unparsed: _, ...rest } = head;
      const { properties } = parseProperties(headOf(record));
      expect({ ...rest, properties }).toEqual(parseRecord(record));
    }),
  );
});

test('the text of the properties is what was written, and what a reader changes is its own', () => {
  const head = headOf(withProperties('{ "b":12345678901234567890,"a":"ü" }'));
  const { properties, text } = parseProperties(head);
  expect(text).toBe('{ "b":12345678901234567890,"a":"ü" }');
  properties.a = 1;
  expect(parseProperties(head).properties.a).toBe('ü');

  const whole = parseProperties(event);
  expect(whole).toEqual({ properties: event.properties, text: null });
  whole.properties.a = 1;
  expect(event.properties).not.toHaveProperty('a');
});

test.each<[string, Buffer]>([
  ['is no JSON', Buffer.from('{"kind":,"properties":{}}')],
  ['is of a warning', Buffer.from('{"kind":"warning","properties":{}}')],
  ['has no properties', Buffer.from('{"kind":"event"}')],
  ['lacks what an event needs', Buffer.from('{"kind":"event","uuid":"x","properties":{}}')],
  ['has an escaped character', withProperties('{"a":"\\u0000"}')],
  ['is not UTF-8', withProperties(Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d]))],
  ['has another object with such a member before', encodeCapturedRecord({ ...event, $set: { a: 1, properties: {} } })],
  ['may be nested too deep', encodeCapturedRecord({ ...event, $set: { list: Array(maxNesting).fill([]) } })],
  ['goes on after its end', Buffer.concat([encodeCapturedRecord(event), Buffer.from(' ')])],
])('a record that %s is left to whoever reads it as a whole', (_, record) => {
  expect(parseHead(record)).toBeNull();
});

test.each<[string, string]>([
  ['no JSON', '{"a":}'],
  ['a list', '[1]'],
  ['null', 'null'],
  ['followed by another member', '{"a":1},"$unset":["b"]'],
  ['nested too deep', `{"a":${'['.repeat(maxNesting - 1)}${']'.repeat(maxNesting - 1)}}`],
])('properties that are %s are found when they are read', (_, text) => {
  const head = headOf(withProperties(text));
  expect(isUnparsed(head)).toBe(true);
  expect(() => parseProperties(head)).toThrow(UnreadableProperties);
});

test('properties may nest as deep as in a record that is read as a whole', () => {
  const deepest = `{"a":${'['.repeat(maxNesting - 2)}${']'.repeat(maxNesting - 2)}}`;
  expect(parseProperties(headOf(withProperties(deepest))).text).toBe(deepest);
  expect(parseRecord(withProperties(deepest)).kind).toBe('event');
});
