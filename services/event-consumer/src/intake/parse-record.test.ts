import { type CapturedEvent, type CapturedWarning, encodeCapturedRecord } from '@millrace/contracts';
import { maxNesting } from '../values/json.ts';
import { parseRecord } from './parse.ts';

const event: CapturedEvent = {
  kind: 'event',
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  token: 'phc_test',
  distinct_id: 'u',
  event: '$pageview',
  timestamp: '2026-03-01T12:00:00.000Z',
  now: '2026-03-01T12:00:01.000Z',
  sent_at: '2026-03-01T12:00:00.500Z',
  ip: '203.0.113.7',
  historical_migration: true,
  $set: { a: 1 },
  $set_once: { b: 2 },
  $unset: ['c'],
  properties: { $current_url: 'https://x', nested: { list: [1, 'two', null, true] } },
};

const warning: CapturedWarning = {
  kind: 'warning',
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  token: 'phc_test',
  type: 'missing_distinct_id',
  count: 3,
  now: '2026-03-01T12:00:01.000Z',
  details: { samples: [{ index: 3 }] },
};

function parse(record: unknown) {
  return parseRecord(Buffer.from(JSON.stringify(record), 'utf8'));
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

test('parses a complete event and a complete warning without changes', () => {
  expect(parseRecord(encodeCapturedRecord(event))).toEqual(event);
  expect(parseRecord(encodeCapturedRecord(warning))).toEqual(warning);
});

test('parses an event that has only the required fields without adding fields', () => {
  const { kind, uuid, token, distinct_id, event: name, timestamp, now, properties } = event;
  const bare = { kind, uuid, token, distinct_id, event: name, timestamp, now, ip: null, properties };
  expect(parse(bare)).toEqual(bare);
  expect(Object.keys(parse(bare)).sort()).toEqual(Object.keys(bare).sort());
});

test('converts the uuid of an event to lower case', () => {
  expect(parse({ ...event, uuid: event.uuid.toUpperCase() })).toEqual(event);
});

test.each([
  ['not JSON', '{"kind":', 'failed_parse_message'],
  ['empty', '', 'failed_parse_message'],
  ['null', 'null', 'failed_parse_message'],
  ['a list', '[]', 'failed_parse_message'],
  ['a text', '"event"', 'failed_parse_message'],
  ['random bytes', Buffer.from([0xff, 0x00, 0x7b]).toString('latin1'), 'failed_parse_message'],
  ['nested without end', nested(100_000), 'failed_parse_message'],
])('rejects a record that is %s', (_, text, reason) => {
  expect(parseRecord(Buffer.from(text))).toMatchObject({ kind: 'invalid', reason });
});

test.each<[string, Record<string, unknown>, string]>([
  ['no kind', { kind: undefined }, 'failed_parse_message'],
  ['an unknown kind', { kind: 'person' }, 'failed_parse_message'],
  ['a kind with the name of an inherited property', { kind: 'constructor' }, 'failed_parse_message'],
  ['no uuid', { uuid: undefined }, 'empty_uuid'],
  ['a null uuid', { uuid: null }, 'empty_uuid'],
  ['an empty uuid', { uuid: '' }, 'empty_uuid'],
  ['a uuid in another format', { uuid: '01890a5dac96774bbcceb302099a8057' }, 'invalid_uuid'],
  ['a uuid with further characters', { uuid: `${event.uuid}\n` }, 'invalid_uuid'],
  ['a numeric uuid', { uuid: 7 }, 'invalid_uuid'],
  ['no token', { token: undefined }, 'token_missing'],
  ['an empty token', { token: '' }, 'token_missing'],
  ['a token that is not text', { token: {} }, 'token_missing'],
  ['no receive time', { now: undefined }, 'failed_parse_message'],
  ['an invalid receive time', { now: 'yesterday' }, 'failed_parse_message'],
  ['no name', { event: undefined }, 'event_name_missing'],
  ['an empty name', { event: '' }, 'event_name_missing'],
  ['an object as its name', { event: {} }, 'event_name_missing'],
  ['no distinct ID', { distinct_id: undefined }, 'distinct_id_missing'],
  ['an empty distinct ID', { distinct_id: '' }, 'distinct_id_missing'],
  ['a numeric distinct ID', { distinct_id: 7 }, 'distinct_id_missing'],
  ['no properties', { properties: undefined }, 'failed_parse_message'],
  ['a list of properties', { properties: [] }, 'failed_parse_message'],
])('rejects an event with %s', (_, change, reason) => {
  expect(parse({ ...event, ...change })).toMatchObject({ kind: 'invalid', reason });
});

test.each<[string, Record<string, unknown>]>([
  ['an unknown type', { type: 'toString' }],
  ['no count', { count: undefined }],
  ['a count of 0', { count: 0 }],
  ['a fractional count', { count: 1.5 }],
  ['no details', { details: null }],
])('rejects a warning with %s', (_, change) => {
  expect(parse({ ...warning, ...change })).toMatchObject({ kind: 'invalid', reason: 'failed_parse_message' });
});

test('an error message names the invalid field, but never its value', () => {
  const secret = 'someone@example.com';
  for (const field of ['kind', 'uuid', 'token', 'now', 'event', 'distinct_id', 'properties']) {
    const parsed = parse({ ...event, [field]: [secret] });
    expect(parsed).toMatchObject({ kind: 'invalid', message: expect.stringContaining(field) });
    expect(JSON.stringify(parsed)).not.toContain(secret);
  }
});

test('keeps an event with a malformed optional field, but omits the field', () => {
  const invalidOptional = { sent_at: 7, ip: {}, historical_migration: 'yes', $set: null, $set_once: 'x', timestamp: 7 };
  const { sent_at: _, historical_migration: __, $set: ___, $set_once: ____, ...rest } = event;
  expect(parse({ ...event, ...invalidOptional })).toEqual({ ...rest, ip: null, timestamp: '' });
});

test('replaces NUL and lone surrogates in keys, values and names, but keeps surrogate pairs', () => {
  const dirty = { 'k\u0000': ['a\u0000', { '\udc00': '\ud800x' }], fox: '🦊', line: 'a\nb\u001f' };
  const parsed = parse({ ...event, event: 'e\u0000', distinct_id: '\ud83e', properties: dirty, $set: { a: '\u0000' } });
  expect(parsed).toMatchObject({ event: 'e\ufffd', distinct_id: '\ufffd', $set: { a: '\ufffd' } });
  expect(parsed).toHaveProperty('properties', {
    'k\ufffd': ['a\ufffd', { '\ufffd': '\ufffdx' }],
    fox: '🦊',
    line: 'a\nb\u001f',
  });
});

test('replaces a lone surrogate in a record that contains no other invalid character', () => {
  expect(parse({ ...event, properties: { a: 'x\udc00' } })).toHaveProperty('properties.a', 'x\ufffd');
});

test('keeps an escaped backslash that is followed by a "u"', () => {
  expect(parse({ ...event, properties: { path: 'C:\\u0000' } })).toHaveProperty('properties.path', 'C:\\u0000');
});

test('replaces invalid UTF-8 bytes in a record with U+FFFD', () => {
  const [head, tail] = JSON.stringify({ ...event, properties: { a: 'HERE' } }).split('HERE');
  const bytes = Buffer.concat([Buffer.from(head ?? ''), Buffer.from([0xc3, 0x28]), Buffer.from(tail ?? '')]);
  expect(parseRecord(bytes)).toHaveProperty('properties.a', '\ufffd(');
});

test('treats keys such as __proto__ as ordinary keys, whether or not characters in the record are replaced', () => {
  const text = JSON.stringify({ ...event, properties: {} }).replace(
    '"properties":{}',
    '"properties":{"__proto__":{"admin":true},"a":"\\u0000"}',
  );
  const parsed = parseRecord(Buffer.from(text));
  expect(JSON.stringify(parsed)).toContain('"properties":{"__proto__":{"admin":true},"a":"\ufffd"}');
  expect(Reflect.get({}, 'admin')).toBeUndefined();
});

test('does not read a required field from an object that the record sets as its prototype', () => {
  const text = `{"__proto__":${JSON.stringify(event)}}`;
  expect(parseRecord(Buffer.from(text))).toMatchObject({ kind: 'invalid', reason: 'empty_uuid' });
});

test(`accepts properties that are nested ${maxNesting - 1} levels deep, and rejects deeper ones`, () => {
  const withDepth = (levels: number) =>
    parseRecord(
      Buffer.from(JSON.stringify({ ...event, properties: { a: 0 } }).replace('{"a":0}', `{"a":${nested(levels)}}`)),
    );
  // The record and its properties object are the first two levels of nesting.
  expect(withDepth(maxNesting - 2).kind).toBe('event');
  expect(withDepth(maxNesting - 1)).toMatchObject({ kind: 'invalid', reason: 'failed_parse_message' });
});
