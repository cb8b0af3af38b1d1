import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';

const program = fileURLToPath(new URL('../../bin/dev.mjs', import.meta.url));
let directory: string;
let database: TestDatabase;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-dev-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await database.drop();
});

function runDev(...programArguments: string[]) {
  const child = spawn(process.execPath, [program, ...programArguments], {
    env: { ...process.env, MILLRACE_DATA_DIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  return { child, exited: once(child, 'exit'), output: () => output };
}

test.each([
  [[], 'The services are gateway, consumer, api, worker.'],
  [['constructor'], 'The services are gateway, consumer, api, worker.'],
  [['api'], 'Run `npm start` in another terminal first.'],
])('npm run dev with the arguments %j explains what is wrong', async (programArguments, explanation) => {
  const { exited, output } = runDev(...programArguments);
  expect(await exited).toEqual([1, null]);
  expect(output()).toContain(explanation);
});

test('npm run dev runs a service from its sources with the database of the running system', async () => {
  const settings = { DATABASE_URL: database.url, EVENT_LOG: 'postgres', SECRETS_KEY: 'a'.repeat(43) };
  writeFileSync(join(directory, 'connection.json'), JSON.stringify({ ingestUrl: 'http://127.0.0.1:1', settings }));
  const { child, exited, output } = runDev('api');
  await eventually(() => output().includes('"message":"listening"'), { what: 'the start of the API' });
  const [, url] = /will listen on (\S+)/.exec(output()) ?? [];
  expect((await fetch(`${url}/api/users/@me/`)).status).toBe(401);
  expect(output()).toContain('Debugger listening on ws://127.0.0.1:');
  child.kill('SIGTERM');
  await exited;
  expect(output()).toContain('"message":"stopped"');
});
