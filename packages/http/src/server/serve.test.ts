import { Agent, get, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startHttpServer } from './serve.ts';

// If shutdown waited for the keep-alive connection, this test would exceed jest's time limit before the drain time
// ends.
test('finishes a request in progress when the server stops, and accepts no new requests', async () => {
  let release = () => {};
  let arrived = () => {};
  const hasArrived = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = await startHttpServer(
    (_request, response) => {
      release = () => response.end('done');
      arrived();
    },
    { port: 0, host: '127.0.0.1', setting: 'API_PORT', drainTimeoutMs: 600_000 },
  );
  const url = `http://127.0.0.1:${server.port}/`;
  const text = fetch(url).then((response) => response.text());
  await hasArrived;
  const stopped = server.stop();
  await expect(fetch(url)).rejects.toThrow();
  release();
  expect(await text).toBe('done');
  await stopped;
  await server.stop();
});

test('accepts 1,000 request headers, and returns 431 for more, on every Node.js release', async () => {
  const server = await startHttpServer(
    (request, response) => response.end(String(Object.keys(request.headers).length)),
    {
      port: 0,
      host: '127.0.0.1',
      setting: 'API_PORT',
      drainTimeoutMs: 10_000,
    },
  );
  // `get` adds two headers: Host and Connection.
  const send = (count: number) =>
    new Promise((resolve, reject) => {
      const headers = Object.fromEntries(Array.from({ length: count - 2 }, (_, i) => [`x-${i}`, '1']));
      get({ port: server.port, host: '127.0.0.1', agent: false, headers }, async (response) =>
        resolve([response.statusCode, await text(response)]),
      ).on('error', reject);
    });
  expect(await send(1000)).toEqual([200, '1000']);
  expect(await send(1001)).toEqual([431, '']);
  await server.stop();
});

test('loses no requests from busy clients during restarts', async () => {
  let requests = 0;
  const listener: RequestListener = (_request, response) => void setTimeout(() => response.end('ok'), requests++ % 4);
  const start = () =>
    startHttpServer(listener, {
      port: 0,
      host: '127.0.0.1',
      setting: 'API_PORT',
      drainTimeoutMs: 20_000,
      stopGraceMs: 400,
    });
  let current = await start();
  let responseCount = 0;
  let isOver = false;

  /**
   * Sends requests one after the other on a keep-alive connection. When the server closes the connection, connects to
   * the new server.
   */
  async function client(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      let { port } = current;
      for (let isOpen = true; isOpen && !isOver; ) {
        isOpen = await new Promise<boolean>((resolve, reject) => {
          get({ port, host: '127.0.0.1', agent }, (response) => {
            response.resume().on('end', () => resolve(response.headers.connection !== 'close'));
          }).on('error', reject);
        });
        responseCount += 1;
      }
      ({ port } = current);
    }
    agent.destroy();
  }

  const clients = Promise.all(Array.from({ length: 16 }, client));
  for (let restart = 0; restart < 10; restart += 1) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    const old = current;
    current = await start();
    await old.stop();
  }
  isOver = true;
  await clients;
  expect(responseCount).toBeGreaterThan(10 * 16);
  await current.stop();
});

// If shutdown waited for a connection without a request, the test would exceed jest's time limit.
test('does not wait for a connection without a request when the server stops', async () => {
  const server = await startHttpServer(() => {}, {
    port: 0,
    host: '127.0.0.1',
    setting: 'API_PORT',
    drainTimeoutMs: 600_000,
    stopGraceMs: 10,
  });
  const socket = connect(server.port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  await Promise.all([server.stop(), closed]);
});

test('closes the connection of a request that does not finish within the drain time during shutdown', async () => {
  const server = await startHttpServer(() => {}, {
    port: 0,
    host: '127.0.0.1',
    setting: 'API_PORT',
    drainTimeoutMs: 50,
  });
  const response = fetch(`http://127.0.0.1:${server.port}/`).then(
    () => 'complete',
    () => 'cut',
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server.stop();
  expect(await response).toBe('cut');
});

test('fails at startup if the port is in use', async () => {
  const options = { host: '127.0.0.1', setting: 'API_PORT', drainTimeoutMs: 0 };
  const first = await startHttpServer(() => {}, { ...options, port: 0 });
  await expect(startHttpServer(() => {}, { ...options, port: first.port })).rejects.toThrow('EADDRINUSE');
  await first.stop();
});
