import { execFile } from 'node:child_process';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CompiledPrograms, compilePrograms } from '@millrace/testing';
import { type RunningServices, startServices } from './support/start-services.ts';

/**
 * Runs the script of `helm test` in a process instead of a pod. As in the image, the working directory contains the
 * command-line tool.
 */
const script = fileURLToPath(new URL('../deploy/helm/millrace/files/send-event.mjs', import.meta.url));
const nowhere = 'http://127.0.0.1:9';

let services: RunningServices;
let programs: CompiledPrograms;
let workingDirectory: string;

beforeAll(async () => {
  services = await startServices({ eventLog: 'postgres' });
  programs = await compilePrograms(['packages/cli/src/main.ts']);
  workingDirectory = await mkdtemp(join(tmpdir(), 'millrace-helm-test-'));
  const [file = ''] = programs.files;
  await cp(dirname(file), workingDirectory, { recursive: true });
  await rename(join(workingDirectory, basename(file)), join(workingDirectory, 'millrace.mjs'));
});
afterAll(async () => {
  await services?.stop();
  await programs?.remove();
  await rm(workingDirectory, { recursive: true, force: true });
});

function run(ingest: string, api: string, seconds: string): Promise<{ code: number; output: string }> {
  const { databaseUrl: DATABASE_URL } = services;
  return new Promise((resolve) => {
    const options = { cwd: workingDirectory, env: { DATABASE_URL } };
    execFile(process.execPath, [script, ingest, ingest, api, seconds], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

async function leftBehind() {
  const { rows } = await services.database.query(
    `SELECT (SELECT count(*)::int FROM "organization" WHERE "name" = 'Helm test') AS organizations,
       (SELECT count(*)::int FROM "personal_api_key" WHERE "label" = 'Bootstrap') AS keys`,
  );
  return rows[0];
}

test('`helm test` sends an event, reads it back, evaluates flags and leaves nothing behind', async () => {
  const { code, output } = await run(services.ingestUrl, services.apiUrl, '90');
  expect(output).toContain('The gateway accepted the event');
  expect(output).toContain('The API returned the event');
  expect(output).toContain('The flag request succeeded.');
  expect(code).toBe(0);
  expect(await leftBehind()).toEqual({ organizations: 0, keys: 0 });
});

test('`helm test` names the failed step, and leaves nothing behind', async () => {
  const { code, output } = await run(nowhere, services.apiUrl, '1');
  expect(output).toContain(`Sending an event failed. Last response from ${nowhere}/capture/:`);
  expect(code).toBe(1);
  expect(await leftBehind()).toEqual({ organizations: 0, keys: 0 });
});
