import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, eventually, typeScriptProcess } from '@millrace/testing';
import { createSqlDatabase } from './sql-database.ts';

/** The first byte of the message that a client sends to close its connection. */
const terminate = 0x58; // 'X'

/**
 * Starts a proxy that passes everything to the server except terminate messages, so the client waits indefinitely for
 * the server to close the connection.
 */
async function startWithoutGoodByes({ hostname, port }: URL) {
  const clients = new Set<Socket>();
  let goodByes = 0;
  const proxy: Server = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect(Number(port), hostname);
    clients.add(client);
    client.on('data', (chunk) => {
      if (chunk[0] === terminate) goodByes += 1;
      else server.write(chunk);
    });
    server.pipe(client);
    for (const socket of [client, server]) socket.on('error', () => {});
    client.on('close', () => server.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    for (const client of clients) client.resetAndDestroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    goodByes: () => goodByes,
    cut,
    refuse: () => void proxy.close(),
    stop() {
      proxy.close();
      cut();
    },
  };
}

test('a ping whose closing message is lost delays neither the next ping nor stopping', async () => {
  const testDatabase = await createTestDatabase({ isMigrated: false });
  const url = new URL(testDatabase.url);
  const proxy = await startWithoutGoodByes(url);
  url.host = `127.0.0.1:${proxy.port}`;
  const database = createSqlDatabase({ url: url.toString(), logger: createLogger('test', 'error'), poolSize: 1 });
  try {
    await database.sql.query('SELECT 1');
    proxy.cut();
    await eventually(() => proxy.goodByes() > 0, { what: 'The good-bye of a ping' });
    expect(database.isHealthy()).toBe(true);

    proxy.refuse();
    await eventually(
      async () => {
        await database.sql.query('SELECT 1').catch(() => {});
        return !database.isHealthy();
      },
      { what: 'The ping that finds the server gone' },
    );
    await database.stop();
  } finally {
    proxy.stop();
    await database.stop();
    await testDatabase.drop();
  }
});

test('a pool and its process end even if the messages that close the connections are lost', async () => {
  const testDatabase = await createTestDatabase({ isMigrated: false });
  const url = new URL(testDatabase.url);
  const proxy = await startWithoutGoodByes(url);
  url.host = `127.0.0.1:${proxy.port}`;
  const script = `import { createLogger } from '@millrace/runtime';
    import { createSqlDatabase } from './src/sql-database.ts';
    const database = createSqlDatabase({ url: process.argv[1], logger: createLogger('test', 'error') });
    let stopping;
    await database.transaction(async (tx) => {
      await database.sql.query('SELECT 1');
      stopping = database.stop();
      await tx.query('SELECT 1');
    });
    await stopping;
    console.log('stopped');`;
  const args = [...typeScriptProcess.options, '--input-type=module', '-e', script, url.toString()];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd,
      env: typeScriptProcess.env,
      timeout: 60_000,
    });
    expect(stdout).toBe('stopped\n');
    expect(proxy.goodByes()).toBe(2);
  } finally {
    proxy.stop();
    await testDatabase.drop();
  }
});
