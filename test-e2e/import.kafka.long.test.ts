import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestTenant,
  eventually,
  startServer,
  type TestServer,
  type TestTenant,
} from '@millrace/testing';
import { createManagementClient } from './support/management-client.ts';
import { type RunningServices, startServices } from './support/start-services.ts';

/** Runs `millrace import` in a separate process with the real ingest host. Every test imports into its own project. */
let services: RunningServices;
let program: CompiledPrograms;
let tenant: TestTenant;
let directory: string;
let file: string;

beforeAll(async () => {
  program = await compilePrograms(['packages/cli/src/main.ts']);
  services = await startServices({ eventLog: 'kafka' });
});
afterAll(async () => {
  await services?.stop();
  await program?.remove();
});
beforeEach(async () => {
  tenant = await createTestTenant(services.databaseUrl);
  directory = mkdtempSync(join(tmpdir(), 'millrace-import-'));
  file = join(directory, 'events.jsonl');
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Run {
  child: ChildProcess;
  ended: Promise<{ exitCode: number | null; summary: Record<string, unknown>; err: string }>;
}

function startImport(args: string[], input?: Buffer, ingestUrl = services.ingestUrl): Run {
  const child = spawn(process.execPath, [program.files[0] ?? '', 'import', ...args, '--json'], {
    env: { INGEST_URL: ingestUrl, PROJECT_API_KEY: tenant.projectApiKey },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = new Promise<Awaited<Run['ended']>>((resolve) => {
    child.once('close', (exitCode) => resolve({ exitCode, summary: out === '' ? {} : JSON.parse(out), err }));
  });
  return { child, ended };
}
const runImport = (args: string[], input?: Buffer) => startImport(args, input).ended;

/** Starts a proxy that forwards `count` requests and holds all further requests until the test opens the proxy. */
async function startGate(count: number): Promise<TestServer & { open(): void }> {
  let left = count;
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const server = await startServer(async (request, response) => {
    const body = await buffer(request);
    left -= 1;
    if (left < 0) await isOpen;
    const { 'content-type': type = '', 'content-encoding': encoding } = request.headers;
    const headers = { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) };
    const forwarded = await fetch(`${services.ingestUrl}${request.url}`, { method: 'POST', headers, body });
    response.writeHead(forwarded.status, { 'content-type': 'application/json' }).end(await forwarded.text());
  });
  return { ...server, open };
}

/** Writes two persons' events in order, without UUIDs. Most events belong to one person. */
function writeLines(count: number): string {
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      event: 'imported',
      distinct_id: n % 5 === 4 ? 'other' : 'veteran',
      timestamp: new Date(Date.UTC(2016, 0, 1) + n * 60_000).toISOString(),
      properties: { n, $set: { last: n } },
    }),
  );
  const text = `${lines.join('\n')}\n`;
  writeFileSync(file, text);
  return text;
}

async function stored(count: number) {
  return eventually(
    async () => {
      const { rows } = await services.database.query<{ n: number; historical: boolean }>(
        `SELECT (properties->>'n')::int AS n, historical_migration AS historical
           FROM event WHERE project_id = $1 ORDER BY timestamp, n`,
        [tenant.environmentId],
      );
      if (rows.length !== count) throw new Error(`${rows.length} of ${count} are stored`);
      return rows;
    },
    { what: `Storing ${count} events` },
  );
}
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

test('imports the events of a file as historical events, in order and exactly once', async () => {
  writeLines(2500);
  expect(await runImport([file])).toMatchObject({
    exitCode: 0,
    summary: { outcome: 'imported', lines: 2500, imported: 2500, rejected: 0 },
  });
  const rows = await stored(2500);
  expect(rows.map(({ n }) => n)).toEqual(numbers(2500));
  expect(rows.every(({ historical }) => historical)).toBe(true);
  const api = createManagementClient({ ...services, tenant });
  expect(await api.persons({ distinct_id: 'veteran' })).toMatchObject([{ properties: { last: 2498 } }]);
  expect(await api.persons({ distinct_id: 'other' })).toMatchObject([{ properties: { last: 2499 } }]);
  expect(await api.warnings()).toEqual([]);

  // Millrace recognizes repeated events by their UUIDs.
  expect(await runImport([file, '--restart', '--batch-size', '300'])).toMatchObject({ summary: { imported: 2500 } });
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"event":"last","distinct_id":"d","timestamp":"2019-01-01"}\n`);
  expect(await runImport([file])).toMatchObject({ summary: { imported: 2501, importedBefore: 2500 } });
  expect((await stored(2501)).slice(0, 2500)).toEqual(rows);
});

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'continues an import after %s interrupted it',
  async (signal) => {
    writeLines(3000);
    const state = `${file}.import-state.json`;
    const gate = await startGate(40);
    const { child, ended } = startImport([file, '--batch-size', '10'], undefined, gate.url);
    await eventually(() => existsSync(state) && JSON.parse(readFileSync(state, 'utf8')).line >= 200, {
      what: 'Importing the first 200 lines',
      intervalMs: 5,
    });
    child.kill(signal);
    gate.open();
    const interrupted = await ended;
    const { line, events } = JSON.parse(readFileSync(state, 'utf8')) as { line: number; events: number };
    expect(line).toBeLessThan(3000);
    if (signal !== 'SIGKILL') {
      expect(interrupted).toMatchObject({
        exitCode: 130,
        summary: { outcome: 'stopped', imported: events, lastLine: line },
        err: expect.stringMatching(
          /Interrupted\. Everything up to line \d+ has been imported\. Run the same command again/,
        ),
      });
    }
    const again = await startImport([file], undefined, gate.url).ended;
    await gate.stop();
    expect(again).toMatchObject({ exitCode: 0, summary: { imported: 3000, importedBefore: events } });
    expect((await stored(3000)).map(({ n }) => n)).toEqual(numbers(3000));
  },
  300_000,
);

test('imports gzip-compressed standard input, and keeps two identical lines as two events', async () => {
  const text = writeLines(50);
  const twice = '{"event":"same","distinct_id":"d","timestamp":"2018-01-01T00:00:00Z","properties":{"n":99}}\n';
  const input = gzipSync(text + twice + twice);
  expect(await runImport(['-'], input)).toMatchObject({ summary: { file: 'standard input', imported: 52 } });
  expect(await runImport(['-'], input)).toMatchObject({ summary: { imported: 52, importedBefore: 0 } });
  expect((await stored(52)).map(({ n }) => n)).toEqual([...numbers(50), 99, 99]);
});

test('names an event that is too large for the host, and imports all other events', async () => {
  const huge = JSON.stringify({
    event: 'huge',
    distinct_id: 'd',
    timestamp: '2017-01-01T00:00:00Z',
    properties: { text: 'x'.repeat(1_100_000) },
  });
  const [first, ...rest] = writeLines(20).split('\n');
  writeFileSync(file, [first, huge, ...rest].join('\n'));
  expect(await runImport([file])).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(/Import stopped at line 2: refused: 413/),
  });
  expect(await runImport([file, '--skip-invalid'])).toMatchObject({
    exitCode: 0,
    summary: { imported: 20, rejectedLines: [{ line: 2, field: null, reason: expect.stringContaining('413') }] },
  });
  await stored(20);
});

test("shows the host's message if the plan does not include imports", async () => {
  tenant = await createTestTenant(services.databaseUrl, { plan: 'free' });
  writeLines(5);
  const refused = await runImport([file]);
  expect(refused).toMatchObject({ exitCode: 1, summary: { outcome: 'stopped', imported: 0 } });
  expect(refused.err).toMatch(/--host: \S+ responded with 402 .+\. Everything up to line 0 has been imported/);
});
