import { createFaultProxy, createTestDatabase } from '@millrace/testing';
import { connectExternalDatabase } from './external-connection.ts';

test('stopping a connection does not wait for an external server that is frozen', async () => {
  const database = await createTestDatabase({ isMigrated: false });
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const proxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port) });
  const connection = await connectExternalDatabase({
    ...{ host: proxy.host, address: proxy.host, port: proxy.port, database: pathname.slice(1) },
    ...{ user: username, password: decodeURIComponent(password), acceptsAnyCertificate: true },
    ...{ connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 },
  });
  try {
    await connection.run('CREATE TEMPORARY TABLE t AS SELECT 1 AS one');
    proxy.blackHole();
    await connection.stop();
  } finally {
    await proxy.stop();
    await database.drop();
  }
});
