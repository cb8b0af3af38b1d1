import { createSocket } from 'node:dgram';
import { patienceMs } from '@millrace/testing';
import { createChallengeLookup } from './challenge.ts';

const name = '_millrace-challenge.a.example';
const questionOf = (query: Buffer) => query.subarray(12, query.indexOf(0, 12) + 5);
const pointer = [0xc0, 12];
const words = (...values: number[]) => values.flatMap((value) => [(value >> 8) & 255, value & 255]);

/** Creates a DNS response. By default, it has the query's ID and question. */
function response(
  query: Buffer,
  { flags = 0x8580, id = query.readUInt16BE(0), counts = [1, 1, 0, 0], question = questionOf(query) } = {},
  ...answer: number[]
): Buffer {
  return Buffer.concat([Buffer.from(words(id, flags, ...counts)), question, Buffer.from(answer)]);
}
const record = (data: number[], { type = 16, length = data.length, owner = pointer } = {}) => [
  ...owner,
  ...words(type, 1, 0, 60, length),
  ...data,
];
const text = (value: string) => [value.length, ...Buffer.from(value, 'latin1')];
const code = (number: number) => ({ flags: 0x8580 | number, counts: [1, 0, 0, 0] });

const shown = { outcome: 'shown' };
const notShown = { outcome: 'not shown' };
const noAnswer = { outcome: 'no answer', error: expect.stringMatching(/^E[A-Z]+$/) };
const late = { outcome: 'no answer', error: 'ETIMEOUT' };

// biome-ignore format: a case is one line
const cases: [string, string, (query: Buffer) => (Buffer | string)[], object][] = [
  ['hostile-301', 'silence', () => [], late],
  ['hostile-302', 'an empty packet', () => [''], noAnswer],
  ['hostile-303', 'one byte', () => ['x'], noAnswer],
  ['hostile-304', 'half a header', (query) => [query.subarray(0, 6)], noAnswer],
  ['hostile-305', 'the question itself', (query) => [query], notShown],
  ['hostile-306', 'noise', () => [Buffer.alloc(500, 'noise')], noAnswer],
  ['hostile-307', 'another ID', (query) => [response(query, { id: query.readUInt16BE(0) ^ 1 }, ...record(text('challenge')))], late],
  ['hostile-308', 'another question', (query) => [response(query, { question: Buffer.from([1, 97, 0, ...words(16, 1)]) }, ...record(text('challenge')))], noAnswer],
  ['hostile-309', 'no question', (query) => [response(query, { counts: [0, 1, 0, 0], question: Buffer.alloc(0) }, ...record(text('challenge'), { owner: [0] }))], noAnswer],
  ['hostile-310', 'a truncated response, and no TCP', (query) => [response(query, { flags: 0x8780, counts: [1, 0, 0, 0] })], noAnswer],
  ['hostile-311', 'FORMERR', (query) => [response(query, code(1))], noAnswer],
  ['hostile-312', 'SERVFAIL', (query) => [response(query, code(2))], noAnswer],
  ['hostile-313', 'NXDOMAIN', (query) => [response(query, code(3))], notShown],
  ['hostile-314', 'NOTIMP', (query) => [response(query, code(4))], noAnswer],
  ['hostile-315', 'REFUSED', (query) => [response(query, code(5))], noAnswer],
  ['hostile-316', 'an unknown code', (query) => [response(query, code(15))], noAnswer],
  ['hostile-317', 'no records', (query) => [response(query, { counts: [1, 0, 0, 0] })], notShown],
  ['hostile-318', 'more records announced than sent', (query) => [response(query, { counts: [1, 65535, 0, 0] }, ...record(text('challenge')))], noAnswer],
  ['hostile-319', 'a name that points to itself', (query) => [response(query, {}, ...record(text('challenge'), { owner: [0xc0, 12 + questionOf(query).length] }))], noAnswer],
  ['hostile-320', 'two names that point to each other', (query) => [response(query, {}, ...record(text('challenge'), { owner: [0xc0, 14 + questionOf(query).length, 0xc0, 12 + questionOf(query).length] }))], noAnswer],
  ['hostile-321', 'a name that points past the end of the packet', (query) => [response(query, {}, ...record(text('challenge'), { owner: [0xff, 0xff] }))], noAnswer],
  ['hostile-322', 'a label of 200 bytes', (query) => [response(query, {}, ...record(text('challenge'), { owner: [0xbf, 1, 2, 3] }))], noAnswer],
  ['hostile-323', 'a record longer than the packet', (query) => [response(query, {}, ...record(text('challenge'), { length: 65535 }))], noAnswer],
  ['hostile-324', 'a record without content', (query) => [response(query, {}, ...record([]))], expect.objectContaining({ outcome: expect.stringMatching(/^no/) })],
  ['hostile-325', 'a text longer than its record', (query) => [response(query, {}, ...record([255, 97]))], noAnswer],
  ['hostile-326', 'an address record in place of a text record', (query) => [response(query, {}, ...record([1, 2, 3, 4], { type: 1 }))], notShown],
  ['hostile-327', 'a truncated record', (query) => [response(query, {}, ...pointer, 0, 16)], noAnswer],
  ['hostile-328', 'another text', (query) => [response(query, {}, ...record(text('other')))], notShown],
  ['hostile-329', 'the challenge in two texts', (query) => [response(query, {}, ...record([...text('chal'), ...text('lenge')]))], notShown],
  ['hostile-330', 'invalid UTF-8', (query) => [response(query, {}, ...record(text('\xff\xfe\x00')))], notShown],
  ['hostile-331', 'a loop of aliases', (query) => [response(query, { counts: [1, 1, 0, 0] }, ...record(pointer, { type: 5 }))], expect.objectContaining({ outcome: expect.stringMatching(/^no/) })],
  ['hostile-332', 'bytes after the end', (query) => [Buffer.concat([response(query, {}, ...record(text('challenge'))), Buffer.alloc(300, 7)])], expect.objectContaining({ outcome: expect.any(String) })],
  ['hostile-333', 'a thousand responses at once', (query) => Array.from({ length: 1000 }, () => response(query, {}, ...record(text('other')))), notShown],
];

async function startNameServer(answer: (query: Buffer) => (Buffer | string)[]) {
  const socket = createSocket('udp4');
  let current = answer;
  socket.on('message', (query, { port, address }) => {
    for (const packet of current(query)) socket.send(packet, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    behave(next: typeof answer) {
      current = next;
    },
    stop: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

describe('challenge lookup with a hostile name server', () => {
  it.concurrent.each(cases)('%s: %s', async (_id, _title, answer, expected) => {
    const server = await startNameServer(answer);
    try {
      // A check with a short timeout, because the resolver ignores unrelated packets until it times out.
      const impatient = createChallengeLookup({ servers: [server.address], timeoutMs: 300 });
      const check = await impatient('a.example', 'challenge');
      expect(check).toMatchObject({ name, servers: [server.address] });
      expect(check).toMatchObject(expected);
      expect(check.outcome === 'shown' || check.error !== null || check.found.length > 0).toBe(true);
      server.behave((query) => [response(query, {}, ...record(text('challenge')))]);
      const patient = createChallengeLookup({ servers: [server.address], timeoutMs: patienceMs });
      expect(await patient('a.example', 'challenge')).toMatchObject(shown);
    } finally {
      await server.stop();
    }
  });
});
