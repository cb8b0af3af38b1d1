import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { runCli } from '../program.ts';

interface HostResponse {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}
interface SentEvent {
  event: string;
  uuid: string;
}

/**
 * A server that takes the place of the ingest host and returns the responses that a test defines.
 * test-e2e/import.kafka.test.ts imports into a real ingest host.
 */
let host: Server;
let batches: SentEvent[][];
let respond: (events: SentEvent[], request: number) => HostResponse;
let respondAfterMs: number;
let directory: string;
let file: string;

beforeAll(async () => {
  host = createServer((request, response) => {
    void readBody(request).then((body) => {
      batches.push(body.batch);
      expect([request.url, body.api_key, body.historical_migration]).toEqual(['/batch/', 'phc_k', true]);
      const { status, body: text = { status: 'Ok' }, headers } = respond(body.batch, batches.length);
      setTimeout(() => response.writeHead(status, headers).end(JSON.stringify(text)), respondAfterMs);
    });
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
});
afterAll(() => void host.close());
beforeEach(() => {
  batches = [];
  respond = () => ({ status: 200 });
  respondAfterMs = 0;
  directory = mkdtempSync(join(tmpdir(), 'millrace-import-test-'));
  file = join(directory, 'events.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true }));

async function readBody(request: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as {
    api_key: string;
    historical_migration: boolean;
    batch: SentEvent[];
  };
}

const line = (n: number) => JSON.stringify({ event: `e${n}`, distinct_id: 'd', timestamp: '2020-01-01T00:00:00Z' });
const lines = (count: number) => Array.from({ length: count }, (_, n) => `${line(n + 1)}\n`).join('');
const sentNames = () => batches.flat().map(({ event }) => event);

interface RunOptions {
  path?: string;
  input?: Readable;
  isTTY?: boolean;
}

async function run(args: string[] = [], { path = file, input, isTTY = false }: RunOptions = {}) {
  const output = { out: '', err: '' };
  const { port } = host.address() as AddressInfo;
  const exitCode = await runCli(['import', path, ...args], {
    env: { INGEST_URL: `http://127.0.0.1:${port}/`, PROJECT_API_KEY: 'phc_k' },
    out: { write: (text) => (output.out += text) },
    err: { isTTY, write: (text) => (output.err += text) },
    ...(input ? { input } : {}),
  });
  return { exitCode, ...output };
}
async function runJson(args: string[] = [], options = {}) {
  const { exitCode, out, err } = await run([...args, '--json'], options);
  return { exitCode, err, ...(JSON.parse(out) as Record<string, unknown>) };
}

test('an import sends all lines of the file in order, in batches, and gives each event a UUID', async () => {
  writeFileSync(file, lines(25));
  expect(await runJson(['--batch-size', '10'])).toMatchObject({
    exitCode: 0,
    outcome: 'imported',
    lines: 25,
    imported: 25,
    importedBefore: 0,
    rejected: 0,
    lastLine: 25,
  });
  expect(batches.map(({ length }) => length)).toEqual([10, 10, 5]);
  expect(sentNames()).toEqual(Array.from({ length: 25 }, (_, n) => `e${n + 1}`));
  expect(new Set(batches.flat().map(({ uuid }) => uuid)).size).toBe(25);
});

test.each([
  ['compressed with gzip, regardless of its name', () => writeFileSync(file, gzipSync(lines(5))), undefined],
  ['from standard input', () => {}, () => Readable.from([Buffer.from(lines(5))])],
  ['compressed from standard input', () => {}, () => Readable.from([gzipSync(lines(5))])],
])('imports a file %s', async (_name, prepare, input) => {
  prepare();
  expect(await runJson([], input ? { path: '-', input: input() } : {})).toMatchObject({
    outcome: 'imported',
    imported: 5,
  });
  expect(sentNames()).toEqual(['e1', 'e2', 'e3', 'e4', 'e5']);
});

describe('importing a file with invalid lines', () => {
  beforeEach(() => writeFileSync(file, `${line(1)}\n{"event":"x","distinct_id":"d"}\n\nno JSON\n${line(5)}\n`));
  const rejectedLines = [
    { line: 2, field: 'timestamp', reason: 'missing' },
    { line: 4, field: null, reason: 'not valid JSON' },
  ];

  test('sends nothing and names each invalid line', async () => {
    expect(await run()).toEqual({
      exitCode: 1,
      out: expect.stringMatching(/outcome +invalid/),
      err:
        'line 2: timestamp: missing\nline 4: not valid JSON\n' +
        'error: 2 of 5 lines cannot be imported, so nothing was sent. Pass --skip-invalid to import the others.\n',
    });
    expect(batches).toEqual([]);
  });

  test('with --skip-invalid, sends only the valid lines', async () => {
    expect(await runJson(['--skip-invalid'])).toMatchObject({ exitCode: 0, imported: 2, rejected: 2, rejectedLines });
    expect(sentNames()).toEqual(['e1', 'e5']);
  });

  test('with --dry-run, checks the file without sending events', async () => {
    expect(await runJson(['--dry-run', '--skip-invalid'])).toMatchObject({ outcome: 'checked', rejected: 2 });
    expect(batches).toEqual([]);
  });
});

test('an import splits a batch that is too large, and reports a single event that is too large', async () => {
  writeFileSync(file, lines(8));
  respond = (events) => ({ status: events.length > 3 || events.some(({ event }) => event === 'e6') ? 413 : 200 });
  expect(await runJson(['--skip-invalid'])).toMatchObject({
    exitCode: 0,
    imported: 7,
    rejectedLines: [{ line: 6, field: null, reason: 'refused: 413' }],
  });
  expect(
    batches.filter((events) => events.length <= 3 && events.every(({ event }) => event !== 'e6')).flat(),
  ).toHaveLength(7);
  expect(await runJson(['--restart'])).toMatchObject({ exitCode: 1, outcome: 'stopped', lastLine: 0 });
});

test('an import sends a very large event alone, so that the host rejects it instead of dropping it from a batch', async () => {
  const large = JSON.stringify({ ...JSON.parse(line(2)), properties: { text: 'x'.repeat(300_000) } });
  writeFileSync(file, [line(1), large, line(3), line(4)].join('\n'));
  await run();
  expect(batches.map((events) => events.map(({ event }) => event))).toEqual([['e1'], ['e2'], ['e3', 'e4']]);
});

test('an import shows progress, rate and remaining time on a terminal', async () => {
  writeFileSync(file, lines(30));
  respondAfterMs = 250;
  const { err } = await run(['--batch-size', '10'], { isTTY: true });
  expect(err).toMatch(/\r 3[23]\.\d% {2}10 of 30 events {2}[1-9]\d*\/s {2}\d+ s left/);
});

test.each([429, 503])(
  'an import waits for the time in Retry-After if the host responds with status %d',
  async (status) => {
    writeFileSync(file, lines(2));
    respond = (_, request) =>
      request === 1 ? { status, headers: { 'retry-after': '1' }, body: { detail: 'Busy.' } } : { status: 200 };
    expect(await run()).toMatchObject({
      exitCode: 0,
      err: expect.stringContaining(`does not accept events at the moment (${status} Busy.). Retrying in 1 s.\n`),
    });
    expect(sentNames()).toEqual(['e1', 'e2', 'e1', 'e2']);
    expect(batches[0]).toEqual(batches[1]);
  },
);

test.each([
  [
    { status: 402, body: { detail: 'The plan includes no migrations.' } },
    /responded with 402 The plan includes no migrations\./,
  ],
  [{ status: 401, body: { detail: 'Unknown key.', attr: 'api_key' } }, /responded with 401 api_key: Unknown key\./],
  [{ status: 404 }, /responded with 404/],
  [{ status: 301, headers: { location: '/elsewhere' } }, /responded with 301/],
  [{ status: 200, body: { status: 'Ok', quota_limited: ['events'] } }, /quota/],
])('the response %j stops the import, which can be continued later', async (refusal: HostResponse, reason) => {
  writeFileSync(file, lines(4));
  respond = (_, request) => (request === 2 ? refusal : { status: 200 });
  const stopped = await runJson(['--batch-size', '2']);
  expect(stopped).toMatchObject({
    exitCode: 1,
    outcome: 'stopped',
    reason: expect.stringMatching(reason),
    lastLine: 2,
  });
  expect(stopped.err).toMatch(
    /\. Everything up to line 2 has been imported\. Run the same command again to continue\./,
  );
  expect(await runJson(['--batch-size', '2'])).toMatchObject({ imported: 4, importedBefore: 2 });
  expect(sentNames()).toEqual(['e1', 'e2', 'e3', 'e4', 'e3', 'e4']);
  expect(batches[1]).toEqual(batches[2]);
});

test('continues the import of a gzip-compressed file with invalid lines after the last completed line', async () => {
  writeFileSync(file, gzipSync(`no JSON\n${lines(3)}\nno JSON\n${line(4)}\nno JSON\n${line(5)}`));
  respond = (_, request) => ({ status: request === 3 ? 402 : 200 });
  const args = ['--skip-invalid', '--batch-size', '2'];
  const stopped = await runJson(args);
  expect(stopped).toMatchObject({ outcome: 'stopped', lines: 9, imported: 4, rejected: 3, lastLine: 7 });
  expect(await runJson(args)).toMatchObject({
    outcome: 'imported',
    imported: 5,
    importedBefore: 4,
    rejected: 1,
    lastLine: 9,
  });
  expect(sentNames()).toEqual(['e1', 'e2', 'e3', 'e4', 'e5', 'e5']);
});

test('an import stops if the host stays unreachable', async () => {
  writeFileSync(file, lines(1));
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const args = ['--host', `http://127.0.0.1:${port}`, '--patience', '0'];
  expect(await runJson(args)).toMatchObject({ exitCode: 1, reason: expect.stringContaining('ECONNREFUSED') });
});

describe('importing a file again', () => {
  beforeEach(async () => {
    writeFileSync(file, lines(4));
    await run();
    batches = [];
  });
  const state = () => readFileSync(`${file}.import-state.json`, 'utf8');

  test('does not send an event a second time', async () => {
    expect(await runJson()).toMatchObject({ exitCode: 0, imported: 4, importedBefore: 4 });
    expect(batches).toEqual([]);
    expect(state()).not.toContain('phc_k');
  });

  test('sends all events again with the same UUIDs if --restart is passed', async () => {
    await run(['--restart']);
    const again = batches;
    batches = [];
    await run(['--restart']);
    expect(batches).toEqual(again);
    expect(sentNames()).toEqual(['e1', 'e2', 'e3', 'e4']);
  });

  test('sends only the new lines if the file has grown', async () => {
    writeFileSync(file, lines(6));
    expect(await runJson()).toMatchObject({ imported: 6, importedBefore: 4, lines: 6 });
    expect(sentNames()).toEqual(['e5', 'e6']);
  });

  test('fails if the beginning of the file has changed', async () => {
    writeFileSync(file, `${line(9)}\n${lines(4)}`);
    expect(await run()).toMatchObject({ exitCode: 2, err: expect.stringContaining('--restart') });
    expect(batches).toEqual([]);
  });

  test('sends nothing if all events of the file were sent before', async () => {
    expect((await run()).err).toContain('There was nothing left to send');
  });

  test('sends the complete file to a different host, and prints a note', async () => {
    const { port } = host.address() as AddressInfo;
    const elsewhere = await run(['--host', `http://localhost:${port}`]);
    expect(elsewhere).toMatchObject({ exitCode: 0, err: expect.stringContaining('to another host or project') });
    expect(sentNames()).toEqual(['e1', 'e2', 'e3', 'e4']);
    expect(elsewhere.out).toMatch(/^imported before +0$/m);
  });

  test('sends the complete file to a different project', async () => {
    const { port } = host.address() as AddressInfo;
    respond = () => ({ status: 200 });
    const output: string[] = [];
    await runCli(
      ['import', file, '--json', '--host', `http://127.0.0.1:${port}`, '--project-api-key', 'phc_k2', '--dry-run'],
      {
        env: {},
        out: { write: (text) => output.push(text) },
        err: { write: () => {} },
      },
    );
    expect(JSON.parse(output.join(''))).toMatchObject({ importedBefore: 0, lines: 4 });
  });
});

test.each([
  [['--batch-size', '0'], /--batch-size/],
  [['--host', 'events.example.com'], /--host: Must be a URL/],
  [['--state', '/nowhere/at/all'], /--state: Could not write /],
])('rejects the import arguments %j', async (args, message) => {
  writeFileSync(file, lines(1));
  expect(await run(args)).toMatchObject({ exitCode: 2, err: expect.stringMatching(message) });
  expect(batches).toEqual([]);
});

test.each([
  ['missing', () => {}, /does not exist/],
  ['cut off', () => writeFileSync(file, gzipSync(lines(1000)).subarray(0, 200)), /damaged or incomplete/],
])('rejects an import file that is %s', async (_name, prepare, message) => {
  prepare();
  expect(await run()).toMatchObject({ exitCode: 2, err: expect.stringMatching(message) });
});

test('accepts an empty import file', async () => {
  writeFileSync(file, '');
  expect(await runJson()).toMatchObject({ exitCode: 0, outcome: 'imported', lines: 0, imported: 0 });
});
