import { spawn } from 'node:child_process';
import {
  type CompiledPrograms,
  compilePrograms,
  createTestTenant,
  eventually,
  type TestTenant,
} from '@millrace/testing';
import { type RunningServices, startServices } from './support/start-services.ts';

/** Runs `millrace health` in a separate process, with the real services. */
let services: RunningServices;
let program: CompiledPrograms;
let tenant: TestTenant;
beforeAll(async () => {
  program = await compilePrograms(['packages/cli/src/main.ts']);
  services = await startServices({ eventLog: 'postgres' });
  tenant = await createTestTenant(services.databaseUrl);
});
afterAll(async () => {
  await services?.stop();
  await program?.remove();
});

function run(...args: string[]): Promise<{ exitCode: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [program.files[0] ?? '', 'health', ...args], {
    env: { API_URL: services.apiUrl, PERSONAL_API_KEY: tenant.personalApiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  return new Promise((resolve) => child.once('close', (exitCode) => resolve({ exitCode, out, err })));
}

test('health shows waiting events and connected services, as text and as JSON', async () => {
  const { exitCode, out } = await run('--project', String(tenant.projectId));
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^visible after seconds +\d/m);
  expect(out).toMatch(/^live +0 /m);
  await eventually(async () => {
    const health = JSON.parse((await run('--json')).out);
    expect(health).toMatchObject({ alarm: null, dead_letters_waiting: 0, sources: { log: 'ok', services: 'ok' } });
    const names = health.services.filter(({ connections }: { connections: number }) => connections > 0);
    expect(names.map(({ name }: { name: string }) => name)).toContain('management-api');
  });
});
