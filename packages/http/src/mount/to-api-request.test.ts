import type { IncomingMessage } from 'node:http';
import { readRequestPath } from './path-table.ts';
import { readClientAddress, readClientOrigin } from './to-api-request.ts';

const request = (headers: Record<string, string>, socket: object = { remoteAddress: '10.0.0.9' }) =>
  ({ headers, socket }) as unknown as IncomingMessage;

test.each([
  [0, '1.1.1.1', '10.0.0.9'],
  [1, undefined, '10.0.0.9'],
  [1, '', '10.0.0.9'],
  [1, '6.6.6.6, 1.1.1.1', '1.1.1.1'],
  [2, '6.6.6.6,2.2.2.2 , 1.1.1.1', '2.2.2.2'],
  [2, '6.6.6.6,, 1.1.1.1', '6.6.6.6'],
  [5, '2.2.2.2, 1.1.1.1', '2.2.2.2'],
])('behind %i proxies with X-Forwarded-For %p, the client address is %s', (proxies, noted, address) => {
  expect(readClientAddress(request(noted === undefined ? {} : { 'x-forwarded-for': noted }), proxies)).toBe(address);
});

test.each<[number, Record<string, string>, string]>([
  [0, { host: 'a:80', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'b' }, 'http://a:80'],
  [1, { host: 'a:80', 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'b , c' }, 'https://b'],
  [1, { host: 'a:80' }, 'http://a:80'],
  [0, { host: 'a/../"' }, 'http://localhost'],
  [0, {}, 'http://localhost'],
])('behind %i proxies with the headers %p, the origin is %s', (proxies, headers, origin) => {
  expect(readClientOrigin(request(headers), proxies)).toBe(origin);
});

test.each([
  ['/api/things/?a=/b#c', '/api/things/'],
  ['/api/things#a?b', '/api/things'],
  ['//api', '//api'],
  ['http://host:1/api/things?a', '/api/things'],
  ['*', ''],
  ['', ''],
])('the path of the URL %p is %p', (url, path) => {
  expect(readRequestPath(url)).toBe(path);
});
