import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FileField } from '../route/route.ts';
import { readForm } from './read-form.ts';
import { createJsonBodyReader } from './read-json-body.ts';

let server: Server;
beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const list: FileField<string> = { name: 'list', description: '', maxBytes: 1000, read: text };
const json = createJsonBodyReader(1000);

/** The declared `length` can be larger than the body. */
async function send(body: string, { type, length = body.length }: { type: string; length?: number }) {
  const requested = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`);
  const [request, response] = await requested;
  return { request, response, client };
}

const formType = 'multipart/form-data; boundary=x';
const jsonType = 'application/json';

const openFile = (name: string) => `--x\r\ncontent-disposition: form-data; name="${name}"; filename="f"\r\n\r\nabc`;

const readers = {
  form: (request: IncomingMessage) => readForm(request, list, 1000),
  json: (request: IncomingMessage, response: ServerResponse) => json.read(request, response),
  'small json': (request: IncomingMessage) => json.readSmall(request),
};

test.each([
  ['form', formType, `${openFile('list')}\r\n--x--\r\n`],
  ['json', jsonType, '{"name":"x"}'],
  ['small json', jsonType, '{"name":"x"}'],
] as const)(
  'throws a timeout error if the client disconnects before its body is read: %s',
  async (name, type, body) => {
    for (const length of [body.length, body.length + 100]) {
      const { request, response, client } = await send(body, { type, length });
      client.resetAndDestroy();
      await once(response, 'close');
      await expect(readers[name](request, response)).rejects.toMatchObject({ kind: 'timeout' });
    }
  },
);

test.each([
  ['the expected file', openFile('list')],
  ['an unexpected file', openFile('other')],
  ['one of two files with the same name', `${openFile('list')}\r\n${openFile('list')}`],
])('rejects a multipart form that ends within a file, without crashing: %s', async (_, body) => {
  for (const from of [1, 20, body.length]) {
    const { request, client } = await send(body.slice(0, from), { type: formType, length: body.length });
    client.write(body.slice(from));
    await expect(readForm(request, list, 1000)).rejects.toMatchObject({ code: 'parse_error' });
  }
});
