import fc from 'fast-check';
import { parseRawFields } from '../json/event-fields.ts';
import { parseRequest } from './classic-request.ts';
import type { ClientEvent } from './client-event.ts';

const key = 'phc_0123456789';
const event = { event: 'a', distinct_id: 'b' };
const path = { nameForNameless: null, takesBatches: false };
const noHints = { path, apiKey: null, sentAt: null };
const parse = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const request = parseRequest(Buffer.from(text), noHints);
  return { ...request, events: request.events.map(inFull) };
};
/** Parses the fields that the gateway copies without parsing them. */
const inFull = ({ raw, ...event }: ClientEvent) => (raw === undefined ? event : { ...event, ...parseRawFields(raw) });
const batch = (...events: unknown[]) => ({ api_key: key, batch: events });
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('request shapes', () => {
  test.each<[string, unknown, number]>([
    ['body-001 a single event', { api_key: key, ...event }, 1],
    [
      'body-002 an array',
      [
        { ...event, token: key },
        { ...event, token: key },
      ],
      2,
    ],
    ['body-003 a batch', { token: key, batch: [event, event] }, 2],
    ['body-033 an event without a name', { $token: key, $distinct_id: 5, $set: { a: 1 } }, 1],
    ['a single event with a field called batch', { api_key: key, ...event, batch: 'x' }, 1],
    [
      'body-032 unknown fields',
      { api_key: key, ...event, type: 'capture', library: 'x', library_version: '1', messageId: 'y' },
      1,
    ],
  ])('%s', (_name, body, count) => {
    const request = parse(body);
    expect(request).toMatchObject({ token: key, isHistorical: false, sentAtMs: null });
    expect(request.events).toHaveLength(count);
  });

  test('topic-002 accepts the historical flag only for a batch', () => {
    expect(parse({ ...batch(event), historical_migration: true }).isHistorical).toBe(true);
    expect(parse({ ...batch(event), historical_migration: false }).isHistorical).toBe(false);
    expect(parse({ ...batch(event), historical_migration: null }).isHistorical).toBe(false);
  });

  test('topic-003 ignores the historical flag in a request that is not a batch', () => {
    expect(parse({ api_key: key, ...event, historical_migration: true }).isHistorical).toBe(false);
    expect(parse([{ api_key: key, ...event, historical_migration: true }]).isHistorical).toBe(false);
  });

  test("time-011 reads a batch's `sent_at`, or `sentAt` from old clients", () => {
    const sentAtMs = Date.UTC(2026, 10, 21);
    expect(parse({ ...batch(event), sent_at: '2026-11-21T00:00:00Z' }).sentAtMs).toBe(sentAtMs);
    expect(parse({ ...batch(event), sentAt: '2026-11-21T00:00:00Z' }).sentAtMs).toBe(sentAtMs);
    expect(parse({ api_key: key, ...event, sent_at: '2026-11-21T00:00:00Z' }).sentAtMs).toBeNull();
  });
});

describe('error messages about invalid fields', () => {
  test.each<[string, unknown, string, string | null]>([
    ['body-020 a trailing comma', '{"api_key":"secret",}', 'invalid_json', null],
    ['body-020 truncated JSON', '{"api_key":"secret"', 'invalid_json', null],
    ['body-020 invalid JSON', 'secret', 'invalid_json', null],
    ['a number', '5', 'invalid_payload', null],
    ['null', 'null', 'invalid_payload', null],
    ['body-022 an empty array', '[]', 'no_events', null],
    ['body-022 an empty batch', batch(), 'no_events', 'batch'],
    ['a null element', batch({ event: '' }, null), 'invalid_payload', 'batch__1'],
    ['an array element', [[event]], 'invalid_payload', '0'],
    ['body-023 the batch as a string', { api_key: key, batch: 'secret' }, 'invalid_payload', 'batch'],
    ['a null batch', { api_key: key, batch: null }, 'invalid_payload', 'batch'],
    ['field-015 an invalid UUID', batch({}, { ...event, uuid: 'secret' }), 'invalid_payload', 'batch__1__uuid'],
    ['a UUID that is a number', [{ ...event, uuid: 5 }], 'invalid_payload', '0__uuid'],
    ['field-016 properties as null', { api_key: key, ...event, properties: null }, 'invalid_payload', 'properties'],
    [
      'field-016 properties as a string',
      batch({ ...event, properties: 'secret' }),
      'invalid_payload',
      'batch__0__properties',
    ],
    ['field-016 properties as a number', batch({ ...event, properties: 5 }), 'invalid_payload', 'batch__0__properties'],
    ['properties as an array', batch({ ...event, properties: [1] }), 'invalid_payload', 'batch__0__properties'],
    [
      'field-018 cookieless mode as a string',
      batch({ ...event, properties: { $cookieless_mode: 'yes' } }),
      'invalid_payload',
      'batch__0__properties__$cookieless_mode',
    ],
    [
      'a timestamp that is an object',
      batch({ ...event, timestamp: { seconds: 1700000000 } }),
      'invalid_payload',
      'batch__0__timestamp',
    ],
    ['an offset that is a fraction', batch({ ...event, offset: 1.5 }), 'invalid_payload', 'batch__0__offset'],
    ['$set as a string', batch({ ...event, $set: 'secret' }), 'invalid_payload', 'batch__0__$set'],
    [
      'a flag as a string',
      { ...batch(event), historical_migration: 'true' },
      'invalid_payload',
      'historical_migration',
    ],
    ['65 levels', `{"api_key":"${key}","event":"a","distinct_id":"b","properties":${nested(64)}}`, 'too_deep', null],
    ['100,000 levels', `{"api_key":"${key}","batch":[${nested(100_000)}]}`, 'too_deep', 'batch__0'],
  ])('%s', (_name, body, code, attr) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ kind: 'invalid', code, attr }));
    expect(() => parse(body)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }));
  });

  test('an error message contains the expected and the actual type', () => {
    expect(() => parse(batch({ ...event, properties: null }))).toThrow(
      'The field `properties` must be an object, not null.',
    );
    expect(() => parse(batch({ ...event, uuid: 'x' }))).toThrow('The field `uuid` must be a UUID.');
  });
});

describe('malformed and unusual JSON', () => {
  test('accepts an event with 64 nesting levels', () => {
    expect(parse(`{"api_key":"${key}","event":"a","distinct_id":"b","properties":${nested(63)}}`).events).toHaveLength(
      1,
    );
  });

  test('drops only the event with 65 nesting levels from a batch', () => {
    const deep = `{"event":"deep","distinct_id":"b","properties":${nested(100_000)}}`;
    const { events, drops } = parse(`{"api_key":"${key}","batch":[${JSON.stringify(event)},${deep}]}`);
    expect(events).toEqual([event]);
    const sample = { index: 1, uuid: null, event: 'deep', field: null, reason: 'is nested deeper than 64 levels' };
    expect(drops).toEqual([{ cause: 'malformed_event_properties', count: 1, samples: [sample] }]);
  });

  test('stores a key named `__proto__` like any other key', () => {
    const text = `{"api_key":"${key}","event":"a","distinct_id":"b","properties":{"__proto__":{"polluted":true},"x\\u0000":1}}`;
    const [parsed] = parse(text).events;
    expect(JSON.stringify(parsed?.properties)).toBe('{"__proto__":{"polluted":true},"x\ufffd":1}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(parsed?.properties)).toBe(Object.prototype);
  });

  test('field-022 keeps emoji, including those written as escaped surrogate pairs', () => {
    const text = `{"api_key":"${key}","event":"🎉","distinct_id":"b","properties":{"a":"\\ud83c\\udf89"}}`;
    expect(parse(text).events[0]).toMatchObject({ event: '🎉', properties: { a: '🎉' } });
  });

  test('field-023, field-011 replaces lone surrogates and NUL with U+FFFD in names, IDs, values and keys', () => {
    const text = `{"api_key":"${key}","event":"a\\u0000","distinct_id":"b\\uD83D","properties":{"k\\ud800":["v\\u0000",{"w":"\\udc00x"}]}}`;
    expect(parse(text).events[0]).toMatchObject({
      event: 'a\ufffd',
      distinct_id: 'b\ufffd',
      properties: { 'k\ufffd': ['v\ufffd', { w: '\ufffdx' }] },
    });
  });

  test('treats an escaped backslash before `u0000` as text', () => {
    const text = `{"api_key":"${key}","event":"a","distinct_id":"b","properties":{"path":"C:\\\\u0000"}}`;
    expect(parse(text).events[0]?.properties).toEqual({ path: 'C:\\u0000' });
  });

  test('keeps all digits of numeric IDs that JavaScript cannot represent, in all positions', () => {
    const text = `{"api_key":"${key}","batch":[{"event":"a","distinct_id": 1234567890123456781,"properties":{"note":"\\"distinct_id\\": 1234567890123456781"}},{"event":"a","properties":{"distinct_id":1234567890123456782}}]}`;
    const { events } = parse(text);
    expect(events[0]).toMatchObject({
      distinct_id: '1234567890123456781',
      properties: { note: '"distinct_id": 1234567890123456781' },
    });
    expect(events[1]?.properties).toEqual({ distinct_id: '1234567890123456782' });
  });

  test.each([
    ['$identify', '$anon_distinct_id'],
    ['$create_alias', 'alias'],
  ])('keeps all digits of the second ID of %s', (name, property) => {
    const text = `{"api_key":"${key}","event":"${name}","distinct_id":"u","properties":{"${property}":1234567890123456783}}`;
    expect(parse(text).events[0]?.properties).toEqual({ [property]: '1234567890123456783' });
  });

  test('any JSON results in a valid request or an error, and every accepted event can be stored', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
        const body = `{"api_key":"${key}","batch":[{"event":"a","distinct_id":"b","properties":{"p":${text}}}]}`;
        const { events } = parse(body);
        const written = JSON.stringify(events);
        expect(written).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }),
    );
  });
});
