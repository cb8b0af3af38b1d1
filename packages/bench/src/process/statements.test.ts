import { testServers } from '@millrace/testing';
import pg from 'pg';
import { createStatementReader, startStatementCounter } from './statements.ts';

const message = (type: string, body: string) => {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`, 'latin1');
  bytes.writeUInt32BE(4 + body.length, type.length);
  return bytes;
};

test('counts simple queries and executions wherever the bytes are cut', () => {
  const parts = [message('', 'user'), message('P', 'QE'), message('B', ''), message('E', ''), message('Q', 'SELECT 1')];
  const bytes = Buffer.concat(parts);
  for (let cut = 0; cut <= bytes.length; cut++) {
    let statements = 0;
    const reader = createStatementReader(() => statements++);
    reader.push(bytes.subarray(0, cut));
    reader.push(bytes.subarray(cut));
    expect(statements).toBe(2);
  }
});

test('counts the statements of a real connection, with and without values', async () => {
  const counter = await startStatementCounter(testServers().databaseUrl);
  const client = new pg.Client({ connectionString: counter.url });
  try {
    await client.connect();
    const before = counter.count();
    await client.query('SELECT 1');
    await client.query('SELECT $1::int', [1]);
    expect(counter.count() - before).toBe(2);
  } finally {
    await client.end();
    await counter.stop();
  }
});
