import { gzipSync } from 'node:zlib';
import { createTestTenant, eventually } from '@millrace/testing';
import { openRawConnection } from './testing/raw-http.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from './testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  ({ token } = await createTestTenant(fixture.database));
});
afterAll(() => fixture.stop());

const mebibyte = 1024 * 1024;
const goodBody = () => JSON.stringify({ api_key: token, event: 'a', distinct_id: 'b' });
const head = (length: number | string, path = '/capture/', extra = '') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\nOrigin: https://a.example\r\n${extra}\r\n`;
const goodRequest = () => head(Buffer.byteLength(goodBody())) + goodBody();
const codeOf = ({ body }: { body: string }) => JSON.parse(body).code;

async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, { method: 'POST', body, headers });
  return { status: response.status, body: await response.text() };
}

describe('the size of an upload', () => {
  test.each(['/capture/', '/batch/', '/i/v0/e/'])('body-028 accepts a body of 4 MiB on %s', async (path) => {
    const event = { event: 'a', distinct_id: 'b', properties: { p: 'x'.repeat(100_000) } };
    const batch = Array.from({ length: 42 }, () => event);
    expect(await post(path, JSON.stringify({ api_key: token, batch }))).toMatchObject({ status: 200 });
  });

  test.each(['/capture/', '/batch', '/e/'])('body-029 rejects a body of 21 MB on %s', async (path) => {
    const response = await post(path, Buffer.alloc(21_000_000, 'x'));
    expect(response.status).toBe(413);
    expect(JSON.parse(response.body)).toMatchObject({ type: 'client_error', code: 'request_too_large', attr: null });
  });

  test('body-029 keeps the connection usable after a rejected body', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write(head(21 * mebibyte));
    connection.write(Buffer.alloc(21 * mebibyte, 'x'));
    const refused = await connection.response();
    expect(refused).toMatchObject({ status: 413, headers: { 'access-control-allow-origin': 'https://a.example' } });
    connection.write(goodRequest());
    expect(await connection.response()).toMatchObject({ status: 200 });
    connection.socket.destroy();
  });

  test('body-029 rejects a chunked body that is too large, although its size is not declared', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write('POST /batch/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const size = 7 * mebibyte;
    for (let i = 0; i < 3; i++)
      connection.write(
        Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, 'x'), Buffer.from('\r\n')]),
      );
    connection.write('0\r\n\r\n');
    expect(await connection.response()).toMatchObject({ status: 413 });
    connection.socket.destroy();
  });

  test('responds immediately to an upload of a gigabyte, and closes the connection', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write(head(1024 * mebibyte));
    connection.write(Buffer.alloc(mebibyte, 'x'));
    const response = await connection.response();
    expect(response).toMatchObject({ status: 413, headers: { connection: 'close' } });
    await connection.closed;
  });

  test('responds to `Expect: 100-continue` before the client sends the body', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write(head(1024 * mebibyte, '/batch/', 'Expect: 100-continue\r\n'));
    expect(await connection.response()).toMatchObject({ status: 413 });
    connection.socket.destroy();
    const polite = await openRawConnection(gateway.port);
    polite.write(head(Buffer.byteLength(goodBody()), '/batch/', 'Expect: 100-continue\r\n'));
    expect(await polite.response()).toMatchObject({ status: 100 });
    polite.write(goodBody());
    expect(await polite.response()).toMatchObject({ status: 200 });
    polite.socket.destroy();
  });

  test('body-030 rejects a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(150 * mebibyte));
    expect(await post('/batch/', bomb, { 'content-encoding': 'gzip' })).toMatchObject({ status: 413 });
    expect(await post('/capture/', goodBody())).toMatchObject({ status: 200 });
  });
});

describe('incomplete uploads', () => {
  test('body-031 returns 408 for a stalled upload, and closes the connection', async () => {
    const impatient = await fixture.startGateway({ config: { bodyTimeoutMs: 200 } });
    const connection = await openRawConnection(impatient.port);
    connection.write(`${head(1000)}{"api_key":`);
    const response = await connection.response();
    expect(response).toMatchObject({ status: 408, headers: { connection: 'close' } });
    expect(codeOf(response)).toBe('upload_stalled');
    await connection.closed;
  });

  test('releases the memory of a client that disconnects', async () => {
    const own = await fixture.startGateway();
    const connection = await openRawConnection(own.port);
    connection.write(`${head(1000)}{"api_key":`);
    connection.socket.destroy();
    await eventually(async () => /client_closed/.test(await own.metrics.registry.metrics()), {
      what: 'the request being counted as closed by its client',
    });
    expect(await own.metrics.registry.metrics()).toMatch(/millrace_capture_in_flight_bytes 0/);
  });

  test('responds to invalid HTTP with JSON, and closes the connection', async () => {
    const own = await fixture.startGateway();
    const connection = await openRawConnection(own.port, { allowHalfOpen: true });
    connection.write('NOT HTTP\r\n\r\n');
    const response = await connection.response();
    expect(response.status).toBe(400);
    expect(codeOf(response)).toBe('invalid_http');
    const connections = () => new Promise((resolve) => own.server.getConnections((_error, count) => resolve(count)));
    await eventually(async () => (await connections()) === 0, { what: 'the end of the connection', timeoutMs: 30_000 });
    connection.socket.destroy();
  });

  test('rejects headers that are too large', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write(`GET /e/?data=${'x'.repeat(80_000)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await connection.response()).toMatchObject({ status: 431 });
  });
});

describe('several requests on one connection', () => {
  test.each([
    ['400', '/capture/', 'not json', 400],
    ['401', '/capture/', '{"api_key":"phc_unknown","event":"a","distinct_id":"b"}', 401],
    ['404', '/nope', '{}', 404],
    ['405', '/capture/', 'x'.repeat(100_000), 405],
  ])('a connection can be used again after a %s response', async (_name, path, body, status) => {
    const connection = await openRawConnection(gateway.port);
    const request = head(body.length, path) + body;
    connection.write(status === 405 ? request.replace('POST', 'PUT') : request);
    expect(await connection.response()).toMatchObject({ status });
    connection.write(goodRequest());
    expect(await connection.response()).toMatchObject({ status: 200 });
    connection.socket.destroy();
  });

  test('responses arrive in the order of the requests', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write(`${goodRequest() + head(3)}xyz${goodRequest()}`);
    const responses = [await connection.response(), await connection.response(), await connection.response()];
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 200]);
    connection.socket.destroy();
  });
});

describe('the memory budget for uploads', () => {
  async function heldBy(at: TestGateway, bytes: number): Promise<void> {
    await eventually(
      async () => new RegExp(`millrace_capture_in_flight_bytes ${bytes}`).test(await at.metrics.registry.metrics()),
      { what: 'the first request holding its part' },
    );
  }

  test('rejects uploads beyond the memory budget with a status that clients retry', async () => {
    const small = await fixture.startGateway({ config: { maxInFlightBytes: 1_000_000 } });
    const holder = await openRawConnection(small.port);
    holder.write(head(860_000));
    holder.write(Buffer.alloc(850_000, ' '));
    await heldBy(small, 850_000);
    const refused = await fetch(`${small.url}/batch/`, { method: 'POST', body: Buffer.alloc(200_000, ' ') });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(JSON.parse(await refused.text())).toMatchObject({ type: 'server_error', code: 'overloaded' });
    holder.write(Buffer.alloc(10_000, ' '));
    expect(await holder.response()).toMatchObject({ status: 400 });
    const after = await fetch(`${small.url}/batch/`, { method: 'POST', body: goodBody() });
    expect(after.status).toBe(200);
    holder.socket.destroy();
  });

  test('reserves an eighth of the memory budget for small bodies', async () => {
    const own = await fixture.startGateway({ config: { maxInFlightBytes: 4_000_000 } });
    const holder = await openRawConnection(own.port);
    holder.write(head(3_500_000));
    holder.write(Buffer.alloc(3_400_000, ' '));
    await heldBy(own, 3_400_000);
    const statusOf = async (bytes: number) =>
      (await fetch(`${own.url}/batch/`, { method: 'POST', body: Buffer.alloc(bytes, ' ') })).status;
    expect([await statusOf(300_000), await statusOf(250_000)]).toEqual([503, 400]);
    holder.socket.destroy();
  });
});

describe('rejected uploads', () => {
  test('responds to a rejected upload before its end, then reads all of it, and keeps the connection open', async () => {
    const connection = await openRawConnection(gateway.port);
    connection.write(head(21 * mebibyte));
    connection.write(Buffer.alloc(mebibyte, 'x'));
    expect(await connection.response()).toMatchObject({ status: 413, headers: { connection: 'keep-alive' } });
    connection.write(Buffer.alloc(20 * mebibyte, 'x'));
    connection.write(goodRequest());
    expect(await connection.response()).toMatchObject({ status: 200 });
    connection.socket.destroy();
  });

  test('rejected uploads do not delay uploads from other IP addresses', async () => {
    const sent: string[] = [];
    const upload = async (address: string) => {
      const connection = await openRawConnection(gateway.port);
      connection.write(head(30 * mebibyte, '/batch/', `X-Forwarded-For: ${address}\r\n`));
      expect(await connection.response()).toMatchObject({ status: 413 });
      await new Promise((resolve) => connection.socket.write(Buffer.alloc(30 * mebibyte, 'x'), resolve));
      sent.push(address);
      connection.socket.destroy();
    };
    const others = Array.from({ length: 12 }, () => upload('10.0.0.1'));
    await Promise.all([...others, upload('10.0.0.2')]);
    // The gateway reads four uploads at a time.
    expect(sent.indexOf('10.0.0.2')).toBeLessThan(8);
  });
});
