import type { Socket } from 'node:net';
import {
  createTestDatabase,
  eventually,
  type HostileServer,
  patienceMs,
  type SocketScript,
  startHostileServer,
  type TestDatabase,
  writeFast,
  writeSlowly,
} from '@millrace/testing';
import { connectExternalDatabase } from './external-connection.ts';

function message(type: string, body: Buffer | string = '', length = Buffer.byteLength(body) + 4): Buffer {
  const header = Buffer.alloc(5);
  header.write(type, 'latin1');
  header.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([header, Buffer.from(body)]);
}
const int16 = (...values: number[]) => Buffer.from(values.flatMap((value) => [(value >> 8) & 255, value & 255]));
const int32 = (...values: number[]) => Buffer.concat(values.map((value) => int16(value >> 16, value)));
const all = (...parts: Buffer[]) => Buffer.concat(parts);
const authenticated = message('R', int32(0));
const ready = message('Z', 'I');
const done = all(message('1'), message('2'), message('n'), message('C', 'BEGIN\0'), ready);
const notice = message('N', 'SNOTICE\0MHello\0\0');
const field = (name: string) =>
  all(Buffer.from(`${name}\0`), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0));
const noise = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 167 + 13) % 256));

/** Declines TLS, and runs the script when the client has sent its user and database names. */
const atStart =
  (script: SocketScript): SocketScript =>
  (socket) => {
    socket.once('data', (first) => {
      if (first.length !== 8) return script(socket);
      socket.write('N');
    });
  };
const atStatement = (script: SocketScript): SocketScript =>
  atStart((socket) => {
    socket.write(all(authenticated, ready));
    socket.once('data', () => script(socket));
  });
const say =
  (...parts: Buffer[]) =>
  (socket: Socket) =>
    void socket.write(all(...parts));
const end =
  (...parts: Buffer[]) =>
  (socket: Socket) =>
    void socket.end(all(...parts));
const begin = (first: Buffer, then: SocketScript) => (socket: Socket) => {
  socket.write(first);
  then(socket);
};

const malformed = { code: 'EBADMESSAGE' };
const tooLong = { code: 'EANSWERTOOLONG' };
const lost = { message: expect.stringMatching(/^Connection terminated|ECONNRESET/) };
const late = { message: expect.stringMatching(/timeout/) };
const anyError = { message: expect.any(String) };

// biome-ignore format: one line per case
const cases: [string, string, SocketScript, object][] = [
  // The server sends data before the client's startup message.
  ['hostile-101', 'silence', () => {}, late],
  ['hostile-102', 'a closed connection', (socket) => void socket.end(), lost],
  ['hostile-103', 'a reset', (socket) => void socket.resetAndDestroy(), lost],
  ['hostile-104', 'an unknown response to the TLS request', (socket) => void socket.once('data', () => socket.write('?')), anyError],
  ['hostile-105', 'noise after accepting TLS', (socket) => void socket.once('data', () => { socket.write('S'); setTimeout(() => writeFast(socket, noise), 50); }), anyError],
  ['hostile-106', 'silence instead of TLS', (socket) => void socket.once('data', () => socket.write('S')), late],
  ['hostile-107', 'an HTTP server', (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')), anyError],
  // The server sends data instead of authenticating the client.
  ['hostile-111', 'noise', atStart(say(noise)), malformed],
  ['hostile-112', 'endless noise', atStart((socket) => writeFast(socket, noise)), malformed],
  ['hostile-113', 'an unknown message', atStart(say(message('?', 'abc'))), malformed],
  ['hostile-114', 'a length of 0', atStart(say(message('R', '', 0))), malformed],
  ['hostile-115', 'a length of 3', atStart(say(message('R', '', 3))), malformed],
  ['hostile-116', 'a length of 4 GB', atStart(say(message('R', int32(0), 0xffffffff))), tooLong],
  ['hostile-117', 'a negative length', atStart(say(message('R', int32(0), -2_147_483_648))), tooLong],
  ['hostile-118', 'an unknown authentication', atStart(say(message('R', int32(99)))), malformed],
  ['hostile-119', 'an authentication without a kind', atStart(say(message('R'))), malformed],
  ['hostile-120', 'SASL that does not continue', atStart(say(message('R', all(int32(10), Buffer.from('SCRAM-SHA-256'))))), late],
  ['hostile-121', 'SASL without a known mechanism', atStart(say(message('R', all(int32(10), Buffer.from('X\0\0'))))), anyError],
  ['hostile-122', 'the second step of SASL before the first', atStart(say(message('R', all(int32(11), Buffer.from('r=a,s=b,i=1'))))), anyError],
  ['hostile-123', 'the last step of SASL before the first', atStart(say(message('R', all(int32(12), Buffer.from('v=a'))))), anyError],
  ['hostile-124', 'endless SASL requests', atStart((socket) => writeFast(socket, message('R', all(int32(10), Buffer.from('SCRAM-SHA-256\0\0'))))), malformed],
  ['hostile-125', 'endless password requests', atStart((socket) => writeFast(socket, message('R', int32(3)))), malformed],
  ['hostile-126', 'an error without fields', atStart(say(message('E', '\0'))), anyError],
  ['hostile-127', 'an error without an end', atStart(say(message('E', 'SFATAL\0'))), malformed],
  ['hostile-128', 'an error with an unfinished field', atStart(say(message('E', 'SFATAL'))), malformed],
  ['hostile-129', 'an empty error', atStart(say(message('E'))), malformed],
  ['hostile-130', 'an error with a code of 100 KB', atStart(say(message('E', `SFATAL\0C${'A'.repeat(100_000)}\0\0`))), anyError],
  ['hostile-131', 'endless notices', atStart((socket) => writeFast(socket, notice)), tooLong],
  ['hostile-132', 'endless settings', atStart((socket) => writeFast(socket, message('S', 'a\0b\0'))), tooLong],
  ['hostile-133', 'endless slow notices', atStart((socket) => writeSlowly(socket, notice)), late],
  ['hostile-134', 'a row', atStart(say(message('D', int16(0)))), malformed],
  ['hostile-135', 'a truncated key', atStart(say(authenticated, message('K', int32(1)))), malformed],
  ['hostile-136', 'a closed connection after authentication', atStart(end(authenticated)), lost],
  ['hostile-137', 'half a message', atStart(end(authenticated.subarray(0, 6))), lost],
  ['hostile-138', 'silence after authentication', atStart(say(authenticated)), late],
  // The server sends data instead of executing a statement.
  ['hostile-141', 'noise', atStatement(say(noise)), malformed],
  ['hostile-142', 'endless noise', atStatement((socket) => writeFast(socket, noise)), malformed],
  ['hostile-143', 'an unknown message', atStatement(say(message('?'))), malformed],
  ['hostile-144', 'a length of 0', atStatement(say(message('C', '', 0))), malformed],
  ['hostile-145', 'a length of 4 GB', atStatement(begin(message('N', '', 0xffffffff), (socket) => writeFast(socket, noise))), tooLong],
  ['hostile-146', 'a message of 300 KB', atStatement(say(message('N', `M${'a'.repeat(300_000)}\0\0`))), tooLong],
  ['hostile-147', 'an authentication', atStatement(say(authenticated)), malformed],
  ['hostile-148', 'a copy in', atStatement(say(message('G', all(Buffer.from([0]), int16(0))))), malformed],
  ['hostile-149', 'a copy out', atStatement(say(message('H', all(Buffer.from([0]), int16(-1))))), malformed],
  ['hostile-150', 'a suspended portal', atStatement(say(message('s'))), malformed],
  ['hostile-151', 'a notification', atStatement(say(message('A', all(int32(1), Buffer.from('a\0b\0'))))), malformed],
  ['hostile-152', 'an error without fields', atStatement(say(message('E', '\0'), ready)), anyError],
  ['hostile-153', 'an error without an end', atStatement(say(message('E', 'SERROR\0Mno'))), malformed],
  ['hostile-154', 'a notice without an end', atStatement(say(message('N', 'SNOTICE\0'))), malformed],
  ['hostile-155', 'an error and no end of the statement', atStatement(say(message('E', 'SERROR\0C23505\0\0'))), { code: '23505' }],
  ['hostile-156', 'endless notices', atStatement((socket) => writeFast(socket, notice)), tooLong],
  ['hostile-157', 'endless slow notices', atStatement((socket) => writeSlowly(socket, notice)), late],
  ['hostile-158', 'endless rows', atStatement(begin(message('T', all(int16(1), field('a'))), (socket) => writeFast(socket, message('D', all(int16(1), int32(1), Buffer.from('a')))))), tooLong],
  ['hostile-159', 'an endless row', atStatement(begin(message('D', '', 0x7fffffff), (socket) => writeFast(socket, noise))), tooLong],
  ['hostile-160', 'silence', atStatement(() => {}), late],
  ['hostile-161', 'a closed connection', atStatement(end()), lost],
  ['hostile-162', 'a reset', atStatement((socket) => void socket.resetAndDestroy()), lost],
  ['hostile-163', 'half a message', atStatement(end(done.subarray(0, 8))), lost],
];

/** The server executes the statement, but sends more than the client requested. */
// biome-ignore format: one line per case
const harmless: [string, string, SocketScript][] = [
  ['hostile-171', 'a row before its description', atStatement(say(message('D', all(int16(1), int32(-1))), done))],
  ['hostile-172', 'a row with more fields than its description', atStatement(say(message('T', all(int16(1), field('a'))), message('D', int16(32767)), done))],
  ['hostile-173', 'a description of 32,767 fields, cut short, and 100,000 rows', atStatement(say(message('T', int16(32767)), Buffer.alloc(7 * 100_000, message('D', int16(0))), done))],
  ['hostile-174', 'a description of a negative number of fields', atStatement(say(message('T', int16(-5)), done))],
  ['hostile-175', 'a row with a negative length', atStatement(say(message('D', all(int16(1), int32(-77))), done))],
  ['hostile-176', 'a status that is not text', atStatement(say(message('S', Buffer.from([255, 254])), done))],
  ['hostile-177', 'a message byte by byte', atStatement((socket) => { for (const byte of done) socket.write(Buffer.from([byte])); })],
  ['hostile-178', 'an empty completion message', atStatement(say(message('C'), message('Z')))],
  ['hostile-179', 'more completions than statements', atStatement(say(done, done, done))],
];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ isMigrated: false });
});
afterAll(() => database.drop());

async function attempt(port: number, expected: object | null): Promise<unknown> {
  const timeoutMs = expected === late ? 500 : patienceMs;
  try {
    const connection = await connectExternalDatabase({
      ...{ host: '127.0.0.1', address: '127.0.0.1', port, database: 'd', user: 'u', password: 'p' },
      ...{ acceptsAnyCertificate: true, connectTimeoutMs: timeoutMs, statementTimeoutMs: timeoutMs },
    });
    try {
      await connection.run('INSERT INTO t VALUES ($1)', [1]);
    } finally {
      await connection.stop();
    }
    return null;
  } catch (error) {
    return error;
  }
}

async function succeeds(): Promise<void> {
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const connection = await connectExternalDatabase({
    ...{ host: hostname, address: hostname, port: Number(port), database: pathname.slice(1) },
    ...{ user: username, password: decodeURIComponent(password), acceptsAnyCertificate: true },
    ...{ connectTimeoutMs: patienceMs, statementTimeoutMs: patienceMs },
  });
  await connection.run('CREATE TEMPORARY TABLE t (a int)');
  await connection.run('INSERT INTO t VALUES ($1)', [1]);
  await connection.stop();
}

describe('a malicious database server', () => {
  const results = new Map<string, { server: HostileServer; error: unknown }>();
  beforeAll(async () => {
    const rows = [...cases, ...harmless.map(([id, title, script]) => [id, title, script, null] as const)];
    const attempts = rows.map(async ([id, , script, expected]) => {
      const server = await startHostileServer(script);
      results.set(id, { server, error: await attempt(server.port, expected) });
    });
    await Promise.all(attempts);
  });
  afterAll(async () => {
    for (const { server } of results.values()) await server.stop();
  });

  async function isLeft(id: string): Promise<void> {
    const server = results.get(id)?.server;
    await eventually(() => expect(server?.openConnections()).toBe(0));
    expect(server?.bytesSent()).toBeLessThan(16 * 1024 * 1024);
  }

  it.each(cases)('%s: %s', async (id, _title, _script, expected) => {
    expect(results.get(id)?.error).toMatchObject(expected);
    await isLeft(id);
  });

  it.each(harmless)('%s, which is harmless: %s', async (id) => {
    expect(results.get(id)).toMatchObject({ error: null });
    await isLeft(id);
  });

  it('malformed data from one database does not affect other databases', succeeds);
});
