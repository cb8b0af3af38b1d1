import { gzipSync } from 'node:zlib';
import { createTestTenant } from '@millrace/testing';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';

/** Tests the mistakes that new users make. The error messages describe the problem and its solution. */
let fixture: GatewayFixture;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  key = (await createTestTenant(fixture.database)).token;
});
afterAll(() => fixture.stop());

type Body = string | Buffer | (() => string);
interface Sent {
  path?: string;
  headers?: Record<string, string>;
}
const event = { event: 'a', distinct_id: 'd' };
const withKey = (fields: object) => () => JSON.stringify({ api_key: key, ...fields });
const ofKey = (api_key: unknown) => JSON.stringify({ ...event, api_key });
const gzip: Sent = { headers: { 'content-encoding': 'gzip' } };
const form: Sent = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
const batch: Sent = { path: '/batch/' };
const flags: Sent = { path: '/flags/' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

const noJson =
  'The body is not valid JSON: unexpected character at line 1, column 1. Send an object or an array of events.';
const cutShort = 'The body is not valid JSON: unexpected end at line 1, column 13.';
const notGzip =
  'The request declares gzip, but the body is neither gzip nor JSON. Send JSON, either uncompressed or compressed with gzip.';
const tornGzip = 'The gzip stream in the body is incomplete or damaged. Send the request again.';
const encoding =
  'The body has an unsupported Content-Encoding. Send JSON, either uncompressed or compressed with gzip.';
const noText = 'The body is neither UTF-8 text nor gzip. Send JSON, either uncompressed or compressed with gzip.';
const noLz64 =
  'The request declares lz64, but the body cannot be decoded as lz64. Send JSON, either uncompressed or compressed with gzip.';
const noData = 'The request has no data. Send the events as JSON in the body of a POST request.';
const noField = 'The form has no field `data`. Add it, or send JSON with the Content-Type application/json.';
const noKey = 'The request has no project API key. Send it as `api_key` in the body.';
const nobodys = 'No project has this API key. Copy the key from the project settings.';
const personal = 'This is a personal API key. Send the project API key (`phc_…`) instead.';
const secret =
  'This is a secret API key, which can only read feature flags. Send the project API key (`phc_…`) instead.';
const notAscii =
  'The project API key contains a character that is not ASCII, such as a curly quote. Copy the key from the project settings.';

// biome-ignore format: one case per line
const cases: [name: string, sent: Sent, body: Body, status: number, code: string, attr: string | null, detail: string][] = [
  ['a word', {}, 'hello', 400, 'invalid_json', null, noJson],
  ['two words', {}, 'hello world', 400, 'invalid_json', null, noJson],
  ['a word as gzip', gzip, gzipSync('hello'), 400, 'invalid_json', null, noJson],
  ['a word declared as gzip', gzip, 'hello', 400, 'invalid_gzip', null, notGzip],
  ['a word in base64', {}, base64('hello'), 400, 'invalid_json', null, noJson],
  ['text like base64 as gzip', gzip, gzipSync('aGVsbG8gd29ybGQ'), 400, 'invalid_json', null, noJson],
  ['truncated gzip', gzip, gzipSync('{"event":"a"}').subarray(0, 20), 400, 'invalid_gzip', null, tornGzip],
  ['invalid UTF-8 as gzip', gzip, gzipSync(Buffer.from([0x7b, 0xff])), 400, 'invalid_utf8', null, noText],
  ['brotli', { headers: { 'content-encoding': 'br' } }, Buffer.from([0x8b, 0xff]), 400, 'invalid_utf8', null, encoding],
  ['undeclared deflate', {}, Buffer.from([0x78, 0x9c, 0xff]), 400, 'invalid_utf8', null, noText],
  ['invalid lz64', { path: '/e/?compression=lz64' }, 'garbage!', 400, 'invalid_lz64', null, noLz64],
  ['nothing', {}, '', 400, 'no_data', null, noData],
  ['null', {}, 'null', 400, 'invalid_payload', null, 'The body must be a JSON object or array, not null.'],
  ['a number', {}, '5', 400, 'invalid_payload', null, 'The body must be a JSON object or array, not number.'],
  ['a string', {}, '"hello"', 400, 'invalid_payload', null, 'The body must be a JSON object or array, not string.'],
  ['single quotes', {}, "{'event':'a'}", 400, 'invalid_json', null, 'The body is not valid JSON: unexpected character at line 1, column 2.'],
  ['truncated JSON', {}, '{"event":"a"', 400, 'invalid_json', null, cutShort],
  ['truncated JSON in base64', {}, base64('{"event":"a"'), 400, 'invalid_json', null, cutShort],
  ['a trailing comma', {}, '{"event":"a",}', 400, 'invalid_json', null, 'The body is not valid JSON: unexpected character at line 1, column 14.'],
  ['form fields', form, 'event=a&distinct_id=d', 400, 'no_data', 'data', noField],
  ['a form with empty data', form, 'data=', 400, 'no_data', null, noData],
  ['no key', {}, JSON.stringify(event), 401, 'missing_api_key', 'api_key', noKey],
  ['an unknown key', {}, ofKey('phc_nobody'), 401, 'invalid_api_key', 'api_key', nobodys],
  ['a personal API key', {}, ofKey('phx_mine'), 401, 'personal_api_key', 'api_key', personal],
  ['a secret API key', {}, ofKey('phs_secret'), 401, 'invalid_api_key', 'api_key', secret],
  ['a number as key', {}, ofKey(5), 401, 'not_string', 'api_key', 'The project API key must be a string.'],
  ['an empty key', {}, ofKey(''), 401, 'empty', 'api_key', 'The project API key is empty. Copy the key from the project settings.'],
  ['a key in curly quotes', {}, ofKey('“phc_a”'), 401, 'not_ascii', 'api_key', notAscii],
  ['an empty batch', batch, withKey({ batch: [] }), 400, 'no_events', 'batch', 'The request does not contain any events. Send at least one.'],
  ['an event as batch', batch, withKey({ batch: event }), 400, 'invalid_payload', 'batch', 'The field `batch` must be an array of events, not object.'],
  ['events instead of batch', batch, withKey({ events: [event] }), 400, 'invalid_payload', 'batch', 'The field `batch` must be an array of events.'],
  ['strings as events', batch, withKey({ batch: ['a'] }), 400, 'invalid_payload', 'batch__0', 'The event must be a JSON object, not string.'],
  ['properties that are a string', {}, withKey({ ...event, properties: 'a' }), 400, 'invalid_payload', 'properties', 'The field `properties` must be an object, not string.'],
  ['an invalid UUID', {}, withKey({ ...event, uuid: '5' }), 400, 'invalid_payload', 'uuid', 'The field `uuid` must be a UUID.'],
  ['a boolean in quotes', batch, withKey({ batch: [event], historical_migration: 'true' }), 400, 'invalid_payload', 'historical_migration', 'The field `historical_migration` must be a boolean, not string.'],
  ['a word as flag request', flags, 'hello', 400, 'invalid_json', null, 'The body is not valid JSON: unexpected character at line 1, column 1. Send a JSON object.'],
  ['a flag request without a key', flags, '{"distinct_id":"d"}', 401, 'not_authenticated', null, noKey],
  ['a flag request with a personal API key', flags, '{"distinct_id":"d","token":"phx_mine"}', 401, 'authentication_failed', null, personal],
  ['a flag request without a distinct ID', flags, withKey({}), 400, 'missing_distinct_id', 'distinct_id', 'The field `distinct_id` is required.'],
];

test.each(cases)('%s', async (_name, { path = '/e/', headers = {} }, body, status, code, attr, detail) => {
  const sent = new Uint8Array(Buffer.from(typeof body === 'function' ? body() : body));
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body: sent });
  expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code, attr, detail })]);
});

/** Requests for flag definitions. SDKs show the error messages to developers. */
// biome-ignore format: one case per line
test.each<[name: string, authorization: () => string, token: boolean, detail: string]>([
  ['a project API key', () => `Bearer ${key}`, true, 'This is a project API key. Local evaluation and remote config require a personal API key with the scope `feature_flag:read`, or the secret API key of the project.'],
  ['a key without Bearer', () => 'phx_mine', true, 'The Authorization header must be `Bearer <key>`.'],
  ['no project', () => 'Bearer phx_mine', false, 'The request does not identify a project. Send the project API key in the query parameter `token`.'],
])('returns an error that explains the mistake when definitions are requested with %s', async (_name, authorization, withToken, detail) => {
  const query = withToken ? `?token=${key}` : '';
  const headers = { authorization: authorization() };
  const response = await fetch(`${gateway.url}/api/feature_flag/local_evaluation${query}`, { headers });
  expect([response.status, await response.json()]).toEqual([401, expect.objectContaining({ detail })]);
});
