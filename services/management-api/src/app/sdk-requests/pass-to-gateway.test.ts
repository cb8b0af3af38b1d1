import { type IncomingHttpHeaders, request } from 'node:http';
import { createLogger } from '@millrace/runtime';
import { startServer, type TestServer } from '@millrace/testing';
import { passToGateway } from './pass-to-gateway.ts';

let gateway: TestServer;
let api: TestServer;
let asked: IncomingHttpHeaders;
beforeAll(async () => {
  gateway = await startServer((request, response) => {
    asked = request.headers;
    response.writeHead(200, { trailer: 'x-sum', 'x-own': 'gateway' }).end('document');
  });
  const logger = createLogger('test', 'error');
  api = await startServer(passToGateway({ url: gateway.url, isBehindProxy: false, timeoutMs: 60_000, logger }));
});
afterAll(async () => {
  await api.stop();
  await gateway.stop();
});

function ask(headers: Record<string, string>): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(`${api.url}/flags/definitions`, { headers, agent: false }, async (response) => {
      const body = (await response.setEncoding('utf8').toArray()).join('');
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    asking.on('error', reject).end();
  });
}

test.each([
  ['trailer', { trailer: 'x-sum', 'transfer-encoding': 'chunked' }],
  ['te', { te: 'trailers' }],
  ['upgrade', { connection: 'upgrade', upgrade: 'h2c' }],
  ['keep-alive', { 'keep-alive': 'timeout=5' }],
  ['proxy-connection', { 'proxy-connection': 'keep-alive' }],
  ['x-hop', { connection: 'close, X-Hop', 'x-hop': 'one' }],
  ['expect', { expect: '100-continue' }],
])('forwards requests to the gateway without hop-by-hop headers: %s', async (name, headers) => {
  const response = await ask({ ...headers, authorization: 'Bearer phs_key' });
  expect(response).toMatchObject({ status: 200, body: 'document', headers: { 'x-own': 'gateway' } });
  expect(response.headers).not.toHaveProperty('trailer');
  expect(asked).toMatchObject({ authorization: 'Bearer phs_key' });
  expect(asked).not.toHaveProperty([name]);
});
