import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { runCli } from './program.ts';

let clone: string;
let inner: string;
let file: string;
let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  clone = mkdtempSync(join(tmpdir(), 'millrace-clone-'));
  inner = join(clone, 'docs/decisions');
  for (const folder of ['.git', '.millrace', 'docs/decisions']) mkdirSync(join(clone, folder), { recursive: true });
  file = join(clone, '.millrace/connection.json');
  const connection = {
    // No server listens at these URLs, so that the error shows which URL a command used.
    ...{ apiUrl: 'http://127.0.0.1:2', ingestUrl: 'http://127.0.0.1:2' },
    ...{ personalApiKey: 'phx_of_the_clone', projectApiKey: 'phc_of_the_clone' },
    settings: { DATABASE_URL: testDatabase.url, EVENT_LOG: 'postgres' },
  };
  writeFileSync(file, JSON.stringify(connection));
  writeFileSync(join(clone, 'events.jsonl'), '{"event":"a","distinct_id":"b","timestamp":"2026-01-01T00:00:00Z"}\n');
});
afterAll(async () => {
  rmSync(clone, { recursive: true });
  await testDatabase.drop();
});

async function run(words: string, directory: string, env: Record<string, string> = {}) {
  const output = { out: '', err: '' };
  const exitCode = await runCli(words.split(' '), {
    env,
    directory,
    out: { write: (text) => (output.out += text) },
    err: { write: (text) => (output.err += text) },
  });
  return { exitCode, ...output };
}
const used = () => `Using the system started by npm start (${file}).\n`;

test.each([
  ['the root of the clone', () => clone],
  ['a directory of the clone', () => inner],
])('commands in %s use the system that `npm start` runs there, and print its address', async (_, folder) => {
  expect(await run('org list', folder())).toEqual({ exitCode: 0, out: '', err: `${used()}(none)\n` });
  expect((await run('dead-letters list', folder())).err).toContain('EVENT_LOG=postgres (PostgreSQL)');
  for (const words of ['flags list', 'snippet', `import ${join(clone, 'events.jsonl')} --patience 0`]) {
    const { exitCode, err } = await run(words, folder());
    expect([exitCode, err]).toEqual([1, expect.stringContaining(used())]);
    expect(err).toContain('http://127.0.0.1:2');
  }
});

test('commands look for a running system in the directory of MILLRACE_DATA_DIR if it is set', async () => {
  const env = { MILLRACE_DATA_DIR: join(clone, '.millrace') };
  expect((await run('org list', tmpdir(), env)).exitCode).toBe(0);
  expect((await run('org list', clone, { MILLRACE_DATA_DIR: inner })).exitCode).toBe(2);
});

test('`--help` and `--version` do not print the address of the running system', async () => {
  expect(await run('--version', clone)).toEqual({
    exitCode: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    err: '',
  });
  expect((await run('flags --help', clone)).err).toBe('');
});

/**
 * Commands that refer to a different installation, and their errors. They must never use a setting of the running
 * system.
 */
test.each([
  ['org list', { DATABASE_URL: 'postgresql://u@127.0.0.1:2/x' }, '--database-url: Could not connect to the database'],
  ['org list --database-url postgresql://u@127.0.0.1:2/x', {}, '--database-url: Could not connect to the database'],
  ['dead-letters list', { EVENT_LOG: 'postgres' }, '--database-url: Pass the URL'],
  ['flags list', { API_URL: 'http://127.0.0.1:2' }, '--personal-api-key: Pass a personal API key'],
  ['flags list --api-url http://127.0.0.1:2', {}, '--personal-api-key: Pass a personal API key'],
  ['snippet --host http://127.0.0.1:2', {}, '--project-api-key: Pass the project API key of an environment'],
  ['import events.jsonl', { INGEST_URL: 'http://127.0.0.1:2' }, '--project-api-key: Pass the API key of the project'],
] as const)('%s with %j does not use the system that `npm start` runs in this directory', async (words, env, line) => {
  const { err } = await run(words, clone, env);
  expect(err).toMatch(/^error: /);
  expect(err).toContain(line);
});

test('outside of a repository, commands look for a running system only in the current directory', async () => {
  const outer = mkdtempSync(join(tmpdir(), 'millrace-outside-'));
  try {
    mkdirSync(join(outer, '.millrace'));
    mkdirSync(join(outer, 'inner'));
    writeFileSync(
      join(outer, '.millrace/connection.json'),
      JSON.stringify({ settings: { DATABASE_URL: testDatabase.url } }),
    );
    expect((await run('org list', outer)).exitCode).toBe(0);
    expect((await run('org list', join(outer, 'inner'))).exitCode).toBe(2);
  } finally {
    rmSync(outer, { recursive: true });
  }
});
