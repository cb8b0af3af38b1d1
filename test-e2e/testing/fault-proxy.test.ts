import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { eventually } from './eventually.ts';
import { createFaultProxy, type FaultProxy } from './fault-proxy.ts';

let echo: Server;
let proxy: FaultProxy;
let clients: Socket[];

beforeEach(async () => {
  clients = [];
  echo = createServer((socket) => void socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await createFaultProxy({ targetPort: (echo.address() as AddressInfo).port });
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  await proxy.stop();
  echo.close();
});

/** Opens a connection. Records all received bytes, and the error code that ends the connection. */
async function open() {
  const socket = connect(proxy.port, '127.0.0.1');
  clients.push(socket);
  const seen = { socket, text: '', ended: undefined as string | undefined };
  socket.on('data', (chunk) => {
    seen.text += chunk.toString();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    seen.ended = error.code;
  });
  await once(socket, 'connect');
  return seen;
}

async function expectEcho(seen: Awaited<ReturnType<typeof open>>, text: string): Promise<void> {
  seen.socket.write(text);
  await eventually(() => seen.text.endsWith(text), { what: `The echo of ${text}` });
}

test('forwards bytes in both directions by default', async () => {
  const seen = await open();
  await expectEcho(seen, 'hello');
  await proxy.pass();
  await expectEcho(seen, 'once');
  expect(seen.text).toBe('helloonce');
  expect(proxy.connectionCount()).toBe(1);
});

test('cut breaks existing connections and accepts new ones', async () => {
  const old = await open();
  await expectEcho(old, 'hello');
  proxy.cut();

  await eventually(() => old.ended === 'ECONNRESET', { what: 'The end of the old connection' });
  await expectEcho(await open(), 'again');
});

test('refuse rejects connections until pass is called', async () => {
  const old = await open();
  await expectEcho(old, 'hello');
  await proxy.refuse();

  await eventually(() => old.ended === 'ECONNRESET', { what: 'The end of the old connection' });
  await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await proxy.pass();
  await expectEcho(await open(), 'again');
});

test('blackHole withholds bytes without breaking connections, and pass delivers them', async () => {
  const old = await open();
  await expectEcho(old, 'hello');
  proxy.blackHole();
  const young = await open();
  old.socket.write('lost?');
  young.socket.write('me too?');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([old.text, young.text]).toEqual(['hello', '']);

  await proxy.pass();
  await eventually(() => old.text === 'hellolost?' && young.text === 'me too?', { what: 'The return of the bytes' });
  await expectEcho(young, 'again');
});
