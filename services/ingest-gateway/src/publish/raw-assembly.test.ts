import { encodeCapturedRecord } from '@millrace/contracts';
import type { AppendRecord } from '@millrace/event-log';
import fc from 'fast-check';
import { toCapturedEvents } from '../capture/capture-request.ts';
import { parseRequest } from '../capture/classic-request.ts';
import { createDropTally } from '../capture/drops.ts';
import { repairEmptyObjects } from '../json/event-fields.ts';
import { createScanner } from '../json/scan.ts';
import { createEventAppender } from './append-events.ts';

const path = { nameForNameless: null, takesBatches: false };
const key = 'phc_0123456789';
const uuid = '01936b7e-0000-7000-8000-000000000001';
const topics = { live: 'l', historical: 'h', overflow: 'o', processed: 'p', deadLetter: 'd' };

async function recordsOf(json: string, maxRecordBytes = 900_000): Promise<string[]> {
  const { events, ...request } = parseRequest(Buffer.from(json), { path, apiKey: null, sentAt: null });
  const captured = toCapturedEvents(
    { ...request, dropped: createDropTally() },
    { events, first: 0 },
    {
      receivedAtMs: Date.UTC(2026, 10, 21),
      ip: '192.0.2.1',
      environmentId: 17,
      nameForNameless: null,
      createUuid: () => uuid,
    },
  );
  const appended: AppendRecord[] = [];
  const publication = createEventAppender({
    log: { append: async (records) => void appended.push(...records) },
    topics,
    maxRecordBytes,
    refusesLarge: captured.accepted.length === 1 && captured.dropped.counts().size === 0,
    sender: { path: '/capture' },
    createUuid: () => uuid,
  });
  await publication.add(captured);
  await publication.end(captured);
  return appended.map(({ value }) => value.toString('utf8'));
}

/** Builds the expected record by parsing and serializing the event, without any shortcut. */
function plainRecord(event: Record<string, unknown>) {
  repairEmptyObjects(event);
  const { $set, $set_once, $unset, properties = {} } = event;
  return JSON.parse(
    encodeCapturedRecord({
      kind: 'event',
      uuid,
      token: key,
      environment_id: 17,
      distinct_id: String(event.distinct_id),
      event: String(event.event),
      timestamp: '2026-11-21T00:00:00.000Z',
      now: '2026-11-21T00:00:00.000Z',
      ip: '192.0.2.1',
      ...(Object.fromEntries(
        Object.entries({ $set, $set_once, $unset }).filter(([, value]) => value !== undefined && value !== null),
      ) as object),
      properties: properties as Record<string, unknown>,
    }).toString('utf8'),
  );
}

describe('fields that are copied without parsing have the same meaning as parsed fields', () => {
  const field = fc.jsonValue({ maxDepth: 4 });
  const emptied = fc.constantFrom('$set', '$set_once', '$groups', '$group_set', 'list');
  const fields = fc.oneof(
    { weight: 4, arbitrary: fc.dictionary(fc.string({ unit: 'grapheme' }), field, { maxKeys: 6 }) },
    // Like PHP, sends empty arrays instead of objects.
    fc.dictionary(emptied, fc.constantFrom([], {}, [1])),
  );
  const object = fc.oneof({ weight: 4, arbitrary: fields }, fc.constant([]));
  const harmless = (value: unknown) => !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(value));
  const event = fc
    .record(
      { event: fc.constant('a'), distinct_id: fc.string({ minLength: 1 }), properties: object, $set: object },
      { requiredKeys: ['event', 'distinct_id'] },
    )
    .filter((value) => value.distinct_id.trim() !== '' && harmless(value));
  const spaced = fc.constantFrom(undefined, ' ', '\t', '\n  ');

  test('copies the fields of a single event', async () => {
    await fc.assert(
      fc.asyncProperty(event, spaced, async (sent, space) => {
        const [record] = await recordsOf(JSON.stringify({ api_key: key, ...sent }, null, space));
        expect(JSON.parse(record ?? '')).toEqual(plainRecord(JSON.parse(JSON.stringify(sent))));
      }),
    );
  });

  test('copies the fields of a batch, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 5 }), spaced, async (batch, space) => {
        const records = await recordsOf(JSON.stringify({ batch, api_key: key }, null, space));
        expect(records.map((record) => JSON.parse(record))).toEqual(
          batch.map((sent) => plainRecord(JSON.parse(JSON.stringify(sent)))),
        );
      }),
    );
  });
});

const around = (properties: string) => `{"api_key":"${key}","event":"a","distinct_id":"b","properties":${properties}}`;

test.each([
  ['numbers', '{"n":1.10,"big":12345678901234567890,"tiny":1E-400,"minus":-0}'],
  ['escapes', '{"a":"\\u00e9\\/\\n\\ud83c\\udf89"}'],
  ['a repeated name', '{"a":1,"a":2}'],
  ['a name of an object member', '{"__proto__":{"x":1},"constructor":{"prototype":null},"toString":"x"}'],
  ['white space', '{ "a" :\n[ 1 ,\t2 ] }'],
  ['characters of every width', '{"ü":"größe 🎉 \u2028"}'],
])('copies event properties with %s unchanged', async (_what, properties) => {
  const [record] = await recordsOf(around(properties));
  expect(record).toContain(`"properties":${properties}}`);
});

test.each([
  ['an escaped null character', '{"a":"x\\u0000"}', { a: 'x\ufffd' }],
  ['an unpaired surrogate', '{"a":"\\ud83c"}', { a: '\ufffd' }],
  ['surrogates in the wrong order', '{"a":"\\udf89\\ud83c"}', { a: '\ufffd\ufffd' }],
  ['an unpaired surrogate in a name', '{"a\\ud83c":1}', { 'a\ufffd': 1 }],
])('repairs event properties with %s', async (_what, properties, expected) => {
  const [record] = await recordsOf(around(properties));
  expect(JSON.parse(record ?? '').properties).toEqual(expected);
});

test.each([
  ['the event', `{"api_key":"${key}","event":"a","event":"last","distinct_id":"b"}`, { event: 'last' }],
  ['the ID', `{"api_key":"${key}","event":"a","distinct_id":"b","distinct_id":"last"}`, { distinct_id: 'last' }],
  [
    'the properties',
    `{"api_key":"${key}","event":"a","distinct_id":"b","properties":{"capture_internal":1},"properties":{"x":1}}`,
    { properties: { x: 1 }, ip: '192.0.2.1' },
  ],
  [
    'the set, with a null at the end',
    `{"api_key":"${key}","event":"a","distinct_id":"b","$set":{"x":1},"$set":null}`,
    {},
  ],
  [
    'the batch',
    `{"api_key":"${key}","batch":[{"event":"x","distinct_id":"b"}],"batch":[{"event":"last","distinct_id":"b"}]}`,
    { event: 'last' },
  ],
])('uses the last occurrence if a request repeats %s', async (_what, json, expected) => {
  const records = await recordsOf(json);
  expect(records).toHaveLength(1);
  expect(JSON.parse(records[0] ?? '')).toMatchObject(expected);
  expect(JSON.parse(records[0] ?? '')).not.toHaveProperty('$set');
});

test('recognizes a field name that contains escape sequences', async () => {
  const [record] = await recordsOf(`{"api_key":"${key}","\\u0065vent":"a","distinct_id":"b"}`);
  expect(JSON.parse(record ?? '')).toMatchObject({ event: 'a' });
});

test('truncates the second ID of a merge event, and keeps its other fields', async () => {
  const sent = `{"api_key":"${key}","event":"$create_alias","distinct_id":"b","$set":{"y":2},"properties":{"alias":"${'x'.repeat(300)}","z":1}}`;
  const [record] = await recordsOf(sent);
  expect(JSON.parse(record ?? '')).toMatchObject({ properties: { alias: 'x'.repeat(200), z: 1 }, $set: { y: 2 } });
});

test('removes white space and escape sequences if the event is too large only because of them', async () => {
  const [record] = await recordsOf(around(`{${' '.repeat(2000)}"a":"${'\\u00e9'.repeat(100)}"}`), 1000);
  expect(JSON.parse(record ?? '')).toMatchObject({ properties: { a: 'é'.repeat(100) } });
});

describe('the scanner and invalid JSON', () => {
  const scan = createScanner();
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const valid = around('{"a":[1,-2.5e+3,true,false,null,"x\\n\\u00e9"],"b":{"c":{}}}');

  test('rejects what JSON.parse rejects, whichever character of valid JSON is replaced', () => {
    let scanned = 0;
    for (let at = 0; at < valid.length; at++) {
      for (const character of '"\\{}[]:,0-.eE+tfn \n\u0001\u007fu') {
        const text = valid.slice(0, at) + character + valid.slice(at + 1);
        if (scan(Buffer.from(text)) === null) continue;
        scanned += 1;
        if (!isJson(text)) throw new Error(`taken, but no JSON: ${text}`);
      }
    }
    expect(scanned).toBeGreaterThan(100);
  });

  test('rejects JSON that is truncated at any position or followed by other text', () => {
    for (let end = 0; end < valid.length; end++) expect(scan(Buffer.from(valid.slice(0, end)))).toBeNull();
    for (const rest of ['x', '{}', ',', '\0']) expect(scan(Buffer.from(valid + rest))).toBeNull();
    expect(scan(Buffer.from(`${valid} \n`))).not.toBeNull();
  });

  test.each(['01', '1.', '.5', '+1', '-', '1e', '1e+', 'nul', 'tru', 'fals', 'NaN', '"\\x"', '"\\u12g4"', '"\t"'])(
    'rejects %s, which is not valid JSON',
    (value) => {
      expect(isJson(value)).toBe(false);
      expect(scan(Buffer.from(around(`{"a":${value}}`)))).toBeNull();
    },
  );

  test('rejects more than 64 nesting levels', () => {
    // The event and its properties take two of the allowed nesting levels.
    const nested = (levels: number) => around(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    expect(scan(Buffer.from(nested(63)))).not.toBeNull();
    expect(scan(Buffer.from(nested(64)))).toBeNull();
    expect(scan(Buffer.from(nested(1_000_000)))).toBeNull();
  });
});
