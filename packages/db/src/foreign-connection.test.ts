import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createFaultProxy, createTestDatabase } from '@millrace/testing';
import { connectForeign } from './foreign-connection.ts';

test('the end of a connection does not wait for a server that is frozen', async () => {
  const database = await createTestDatabase({ isMigrated: false });
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const proxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port) });
  const connection = await connectForeign({
    ...{ host: proxy.host, address: proxy.host, port: proxy.port, database: pathname.slice(1) },
    ...{ user: username, password: decodeURIComponent(password), acceptsAnyCertificate: true },
    ...{ connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 },
  });
  try {
    expect(await connection.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    proxy.blackHole();
    await connection.stop();
  } finally {
    await proxy.stop();
    await database.drop();
  }
});

/** Says that it speaks no TLS, lets everybody in, and answers the first question with a row that has no end. */
function answerWithoutEnd(socket: Socket): void {
  const begun = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
  const row = Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff, 0, 1]);
  socket.on('error', () => {});
  socket.once('data', (first) => {
    if (first.length === 8) return void socket.write('N');
    socket.write(begun);
    socket.once('data', () => {
      socket.write(row);
      Readable.from(zeros()).pipe(socket);
    });
  });
}

function* zeros() {
  for (;;) yield Buffer.alloc(64 * 1024);
}

test('a server whose answer has no end is left before it takes all memory', async () => {
  const server = createServer(answerWithoutEnd);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = await connectForeign({
    ...{ host: '127.0.0.1', address: '127.0.0.1', port, database: 'd', user: 'u', password: 'p' },
    ...{ acceptsAnyCertificate: true, connectTimeoutMs: 30_000, statementTimeoutMs: 60_000 },
  });
  try {
    await expect(connection.query('SELECT 1')).rejects.toMatchObject({ code: 'EANSWERTOOLONG' });
  } finally {
    await connection.stop();
    server.close();
  }
});
