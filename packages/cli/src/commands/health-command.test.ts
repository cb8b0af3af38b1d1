import { eventually } from '@millrace/testing';
import { type RunningServices, startRunningServices } from '../testing/running-services.ts';

let services: RunningServices;
beforeAll(async () => {
  services = await startRunningServices();
});
afterAll(() => services?.stop());

const run = (...args: string[]) => services.run(['health', ...args]);

test('`health` shows the number of waiting events and the connected services, as text and as JSON', async () => {
  const { exitCode, out } = await run('--project', String(services.tenant.projectId));
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
