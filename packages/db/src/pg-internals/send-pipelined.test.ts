import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import pg from 'pg';
import { copyPipelined, sendPipelined } from './send-pipelined.ts';

class CountingSocket extends Socket {
  pieces = 0;

  override _write(...args: Parameters<Duplex['_write']>): void {
    this.pieces += 1;
    super._write(...args);
  }

  override _writev(...args: Parameters<NonNullable<Duplex['_writev']>>): void {
    this.pieces += 1;
    super._writev?.(...args);
  }
}

let testDatabase: TestDatabase;
let socket: CountingSocket;
let client: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ isMigrated: false });
  socket = new CountingSocket();
  client = new pg.Client({ connectionString: testDatabase.url, ssl: false, stream: () => socket });
  await client.connect();
  await client.query('CREATE TABLE note (id int)');
});
beforeEach(async () => {
  await client.query('TRUNCATE note');
});
afterAll(async () => {
  await client.end();
  await testDatabase.drop();
});

const insert = (id: number) => client.query('INSERT INTO note VALUES ($1) RETURNING id', [id]);
const notes = async () => (await client.query('SELECT id FROM note ORDER BY id')).rows.map(({ id }) => id);

/** Returns the number of bytes and writes that were sent before a response could arrive, and the total numbers. */
async function sent(send: () => Promise<unknown>) {
  const [bytes, pieces] = [socket.bytesWritten, socket.pieces];
  const work = send();
  const before = { bytes: socket.bytesWritten - bytes, pieces: socket.pieces - pieces };
  await work;
  return { before, all: { bytes: socket.bytesWritten - bytes, pieces: socket.pieces - pieces } };
}

test('pipelined statements are sent in one packet, and their results arrive in order', async () => {
  let ids: unknown;
  const { before, all } = await sent(async () => {
    ids = await sendPipelined(client, () => [insert(1), insert(2), insert(3)]);
  });
  expect(before).toEqual(all);
  expect(all.pieces).toBe(1);
  expect(ids).toMatchObject([{ rows: [{ id: 1 }] }, { rows: [{ id: 2 }] }, { rows: [{ id: 3 }] }]);
});

test('statements after a pipeline are sent one at a time again', async () => {
  await sendPipelined(client, () => [insert(1)]);
  const { before, all } = await sent(() => Promise.all([insert(2), insert(3)]));
  expect(before.bytes).toBeLessThan(all.bytes);
});

test('sends a COPY with its rows and its end in one packet', async () => {
  const rows = [Buffer.from('1\n2\n'), Buffer.from('3\n')];
  const { before, all } = await sent(() => copyPipelined(client, 'COPY note FROM STDIN', rows));
  expect(before).toEqual(all);
  expect(all.pieces).toBe(1);
  expect(await notes()).toEqual([1, 2, 3]);
});
