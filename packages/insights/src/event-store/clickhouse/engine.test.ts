import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectClickHouse } from '../open.ts';
import { sql } from '../sql.ts';
import { createClickHouseEngine } from './engine.ts';

const failures: [string, (response: ServerResponse) => void][] = [
  ['its connection breaks', (response) => response.destroy()],
  [
    'an error follows the rows',
    (response) => response.end("Code: 395. DB::Exception: Value passed to 'throwIf' function is non-zero.\n"),
  ],
];

test.each(failures)('engine-026: a query fails after a partial response when %s', async (_, fail) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write('["one"]\n["two"]\n');
    setTimeout(() => fail(response), 50);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connectClickHouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const budget = { signal: new AbortController().signal, maxMs: 5000, maxBytes: 1_000_000 };
  try {
    await expect(createClickHouseEngine(client).read(sql`SELECT 1`, budget, () => {})).rejects.toMatchObject({
      ...{ kind: 'unavailable', code: 'event_store_unavailable' },
    });
  } finally {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test('closes the connection to ClickHouse when a query is aborted, so that ClickHouse cancels the query', async () => {
  let asked: (request: IncomingMessage) => void = () => {};
  const request = new Promise<IncomingMessage>((resolve) => {
    asked = resolve;
  });
  const server = createServer((one) => asked(one.resume()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connectClickHouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const leaving = new AbortController();
  try {
    const budget = { signal: leaving.signal, maxMs: 600_000, maxBytes: 1_000_000 };
    const reading = createClickHouseEngine(client).read(sql`SELECT 1`, budget, () => {});
    const { url, socket } = await request;
    expect(new URL(url ?? '', 'http://server').searchParams.get('cancel_http_readonly_queries_on_client_close')).toBe(
      '1',
    );
    const closed = once(socket, 'close');
    leaving.abort(new Error('left'));
    await expect(reading).rejects.toThrow('left');
    await closed;
  } finally {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
