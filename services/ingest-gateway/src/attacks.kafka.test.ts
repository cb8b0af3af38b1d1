import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { eventually } from '@millrace/testing';
import { type AttackedGateway, type AttackReport, startAttackedGateway } from './testing/attacked-gateway.ts';
import { openRawConnection } from './testing/raw-http.ts';

/**
 * Tests attacks with small bodies (hostile-bodies.kafka.test.ts covers large ones). Each attack ends with a correct
 * response or a closed connection, uses limited memory, and does not affect other requests. The gateway is a separate
 * process.
 */
let gateway: AttackedGateway;
const bodyTimeoutMs = 1000;

beforeAll(async () => {
  gateway = await startAttackedGateway({ BODY_TIMEOUT_MS: String(bodyTimeoutMs) });
});
afterAll(() => gateway?.stop());

/**
 * Far longer than any delay on an idle machine, because the machine may be busy, but too short to be useful to an
 * attacker.
 */
const longestStallMs = 15_000;

function expectUnharmed({ succeeded, failed, slowestMs, grownMib }: AttackReport<unknown>, maxMib: number): void {
  expect(failed).toEqual([]);
  expect(succeeded).toBeGreaterThan(0);
  expect(slowestMs).toBeLessThan(longestStallMs);
  expect(grownMib).toBeLessThan(maxMib);
}

const head = (length: number, more = '') =>
  `POST /batch/ HTTP/1.1\r\nhost: x\r\n${more}content-length: ${length}\r\n\r\n`;
const event = () => JSON.stringify({ api_key: gateway.token, event: 'small', distinct_id: 'd' });
const request = () => head(Buffer.byteLength(event())) + event();

async function post(body: Buffer): Promise<{ status: number; code: string | undefined }> {
  const response = await fetch(`${gateway.url}/batch/`, { method: 'POST', body: new Uint8Array(body) });
  return { status: response.status, code: ((await response.json()) as { code?: string }).code };
}

/** Returns ten thousand, or fewer if the limit on open files is lower. Some files are reserved for other purposes. */
function socketsToOpen(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const limit = Number(report.userLimits?.open_files?.soft);
  return Math.max(100, Math.min(10_000, (Number.isFinite(limit) ? limit : 10_500) - 500));
}

test('serves requests despite ten thousand sockets that send nothing or an incomplete request', async () => {
  const count = socketsToOpen();
  if (count < 10_000) process.stderr.write(`only ${count} sockets: the limit of open files is too low for more\n`);
  const sockets: Socket[] = [];
  const filesBefore = await gateway.openFiles();
  const report = await gateway.during(async () => {
    for (let opened = 0; opened < count; opened += 250) {
      const wave = Array.from({ length: Math.min(250, count - opened) }, () => open());
      sockets.push(...(await Promise.all(wave)));
    }
    await eventually(async () => (await gateway.openFiles()) >= filesBefore + count * 0.99, {
      what: `${count} open connections`,
    });
    await sleep(1000);
  });
  // According to measurements, each connection takes about 8 KiB.
  expectUnharmed(report, 300);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => (await gateway.openFiles()) < filesBefore + 100, {
    what: 'the connections being gone',
  });

  async function open(): Promise<Socket> {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    if (sockets.length % 2 === 0) socket.write('POST /e/ HTTP/1.1\r\nhost: x\r\nx-half');
    return socket;
  }
});

describe('floods of headers', () => {
  /** `head` adds `host` and `content-length`, so this creates two headers fewer than `count`. */
  const shortHeaders = (count: number) => Array.from({ length: count - 2 }, (_, i) => `x-${i}: ${i}\r\n`).join('');

  test.each<[string, string, number]>([
    ['one long header', `x-long: ${'x'.repeat(100_000)}\r\n`, 431],
    ['ten thousand short headers', shortHeaders(10_000), 431],
    ['a long path', '', 431],
    ['a thousand and one short headers', shortHeaders(1001), 431],
    ['a thousand short headers, the maximum', shortHeaders(1000), 200],
  ])('%s', async (name, headers, status) => {
    const report = await gateway.during(() =>
      Promise.all(
        Array.from({ length: 50 }, async () => {
          const connection = await openRawConnection(gateway.port);
          const whole = head(Buffer.byteLength(event()), headers) + event();
          connection.write(name === 'a long path' ? whole.replace('/batch/', `/${'x'.repeat(100_000)}`) : whole);
          const response = await connection.response();
          connection.socket.destroy();
          return response.status;
        }),
      ),
    );
    expect(new Set(report.result)).toEqual(new Set([status]));
    expectUnharmed(report, 150);
  });

  test('returns an error for headers that never end, and closes the connection', async () => {
    const report = await gateway.during(async () => {
      const connection = await openRawConnection(gateway.port);
      connection.write('POST /e/ HTTP/1.1\r\nhost: x\r\n');
      let isClosed = false;
      const closed = connection.closed.then(() => {
        isClosed = true;
      });
      for (let i = 0; !isClosed && i < 1000; i++) {
        connection.write(`x-${i}: ${'y'.repeat(1000)}\r\n`);
        await sleep(5);
      }
      await closed;
      return isClosed;
    });
    expect(report.result).toBe(true);
    expectUnharmed(report, 150);
  });
});

test('returns 408 for each of five hundred incomplete bodies, and releases their memory', async () => {
  const report = await gateway.during(() =>
    Promise.all(
      Array.from({ length: 500 }, async () => {
        const connection = await openRawConnection(gateway.port);
        connection.write(`${head(100_000)}{"api_key":"${'x'.repeat(10_000)}`);
        const response = await connection.response();
        await connection.closed;
        return response.status;
      }),
    ),
  );
  expect(new Set(report.result)).toEqual(new Set([408]));
  expectUnharmed(report, 200);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/^millrace_capture_in_flight_bytes 0$/m);
});

describe('pipelined requests', () => {
  test('responds to a thousand requests on one connection in order', async () => {
    const report = await gateway.during(async () => {
      const connection = await openRawConnection(gateway.port);
      connection.write(request().repeat(1000));
      const statuses: number[] = [];
      while (statuses.length < 1000) statuses.push((await connection.response()).status);
      connection.socket.destroy();
      return statuses;
    });
    expect(report.result).toEqual(Array.from({ length: 1000 }, () => 200));
    expectUnharmed(report, 150);
  });

  test('stops reading from a client that does not read the responses', async () => {
    const report = await gateway.during(async () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      const preflights = 'OPTIONS /e/ HTTP/1.1\r\nhost: x\r\norigin: https://a.example\r\n\r\n'.repeat(1000);
      let isTaken = true;
      for (let i = 0; isTaken && i < 500; i++) {
        isTaken = await Promise.race([
          new Promise<boolean>((resolve) => socket.write(preflights, () => resolve(true))),
          sleep(2000, false),
        ]);
      }
      socket.destroy();
      return isTaken;
    });
    expect(report.result).toBe(false);
    expectUnharmed(report, 200);
  });
});

/**
 * Creates keys that collide in hash tables without a secret seed: strings with equal Java hash codes, and numbers with
 * equal last bits.
 */
function collidingKeys(count: number): Record<string, string[]> {
  const bits = Math.ceil(Math.log2(count));
  const asJava = (number: number) =>
    Array.from({ length: bits }, (_, bit) => ((number >> bit) & 1 ? 'Aa' : 'BB')).join('');
  return {
    "equal by Java's hash function": Array.from({ length: count }, (_, index) => asJava(index)),
    'numbers equal in their last 16 bits': Array.from({ length: count }, (_, index) =>
      String((index % 250) * 65536 + Math.floor(index / 250)),
    ),
    'numbers equal in their last 24 bits': Array.from({ length: count }, (_, index) =>
      String((60 + (index % 190)) * 16_777_216 + Math.floor(index / 190)),
    ),
    'numbers too large for an index': Array.from({ length: count }, (_, index) => String(4_294_967_296 * (index + 1))),
  };
}

describe('keys that collide in a hash table', () => {
  test.each(Object.keys(collidingKeys(1)))('%s', async (name) => {
    const keys = collidingKeys(100_000)[name] ?? [];
    const fields = keys.map((key) => `"${key}":1`);
    const batch = (items: string) => gzipSync(`{"api_key":"${gateway.token}","batch":[${items}]}`);
    const item = (some: string[]) => `{"event":"e","distinct_id":"d","properties":{${some.join(',')}}}`;
    const tooLarge = batch(item(fields));
    const many = batch(
      Array.from({ length: 5 }, (_, part) => item(fields.slice(part * 20_000, part * 20_000 + 20_000))).join(','),
    );
    const inTheEnvelope = gzipSync(`{${fields.join(',')},"api_key":"${gateway.token}","batch":[${item([])}]}`);
    const report = await gateway.during(() => Promise.all([tooLarge, many, inTheEnvelope].map(post)));
    expect(report.result).toEqual([
      { status: 413, code: 'event_too_large' },
      { status: 200, code: undefined },
      { status: 200, code: undefined },
    ]);
    expectUnharmed(report, 250);
  });
});
