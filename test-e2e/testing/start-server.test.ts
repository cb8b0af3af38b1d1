import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { eventually } from './eventually.ts';
import { startServer } from './start-server.ts';

async function readAll(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

// An unhandled error in the listener would fail the test.
test('ignores a client that disconnects during its request', async () => {
  let begun = 0;
  let ended = 0;
  const server = await startServer(async (request, response) => {
    begun += 1;
    try {
      response.end(await readAll(request));
    } finally {
      ended += 1;
    }
  });
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\nhalf');
  await eventually(() => begun === 1);
  socket.destroy();
  await eventually(() => ended === 1);
  const response = await fetch(server.url, { method: 'POST', body: 'whole' });
  expect(await response.text()).toBe('whole');
  await server.stop();
});
