import { createServer, type Server } from 'node:net';
import { answersAt } from './answers-at.ts';

let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(() => void server.close());

test.each([
  ['postgresql://user:secret@127.0.0.1:PORT/name', true],
  ['redis://127.0.0.1:PORT', true],
  ['127.0.0.1:PORT,127.0.0.1:1', true],
  ['127.0.0.1:1', false],
  ['127.0.0.1', false],
  ['://', false],
])('something listens at %s: %p', async (address, answer) => {
  expect(await answersAt(address.replace('PORT', String(port)))).toBe(answer);
});
