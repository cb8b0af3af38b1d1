import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { endInOneWrite } from './end-in-one-write.ts';

const writes: string[] = [];
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    const status = Number(request.url?.slice(1));
    const text = status === 410 ? 'größer – als' : '{"status":"Ok"}';
    response.sendDate = false;
    response.writeHead(status, status === 201 ? {} : { 'content-length': Buffer.byteLength(text) });
    endInOneWrite(response, text);
  });
  server.on('connection', (socket) => {
    const { write } = socket;
    socket.write = ((piece: string, ...rest: []) => {
      writes.push(String(piece));
      return write.call(socket, piece, ...rest);
    }) as typeof socket.write;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What comes over the wire for requests that are sent one after the other on one connection. */
async function exchange(...requests: string[]): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  writes.length = 0;
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  socket.end(requests.map((line) => `${line} HTTP/1.1\r\nhost: here\r\n\r\n`).join(''));
  await once(socket, 'end');
  return received;
}

const bodiesOf = (received: string) =>
  received
    .split(/(?=HTTP\/1\.1 )/)
    .filter((answer) => answer !== '')
    .map((answer) => [answer.slice(9, 12), answer.slice(answer.indexOf('\r\n\r\n') + 4)]);

test('an answer is one piece on the socket, and the connection goes on after it', async () => {
  const received = await exchange('POST /200', 'POST /400');
  expect(bodiesOf(received)).toEqual([
    ['200', '{"status":"Ok"}'],
    ['400', '{"status":"Ok"}'],
  ]);
  expect(writes).toHaveLength(2);
});

test.each(['HEAD /200', 'POST /204', 'POST /304'])('%s has no body', async (line) => {
  expect(bodiesOf(await exchange(line, 'POST /200'))).toEqual([
    [line.slice(-3), ''],
    ['200', '{"status":"Ok"}'],
  ]);
});

test('text beyond ASCII arrives as UTF-8', async () => {
  expect(bodiesOf(await exchange('POST /410', 'POST /200'))).toEqual([
    ['410', 'größer – als'],
    ['200', '{"status":"Ok"}'],
  ]);
});

test('without a length the text is a chunk', async () => {
  expect(bodiesOf(await exchange('POST /201', 'POST /200'))).toEqual([
    ['201', 'f\r\n{"status":"Ok"}\r\n0\r\n\r\n'],
    ['200', '{"status":"Ok"}'],
  ]);
});
