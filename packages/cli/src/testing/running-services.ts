import { Readable } from 'node:stream';
import { compilePrograms, createTestDatabase, createTestTenant, eventually, startService } from '@millrace/testing';
import { runCli } from '../program.ts';

/**
 * Starts all services in one process, with their own database and an organization. Commands run in the test's process,
 * because starting a process for each command would take most of the time. Only `main.test.ts` does that.
 */
export async function startRunningServices() {
  const program = await compilePrograms(['services/all-in-one/src/main.ts']);
  const database = await createTestDatabase();
  const tenant = await createTestTenant(database.url);
  const services = await startService('all-in-one', program.files[0] ?? '', {
    ...{ DATABASE_URL: database.url, EVENT_LOG: 'postgres', TOPIC_PARTITIONS: '2' },
    ...{ INGEST_PORT: '0', API_PORT: '0', HEALTH_PORT: '0' },
    ...{ API_REQUESTS_PER_MINUTE: '0', API_REQUESTS_PER_HOUR: '0' },
  });
  const portOf = (name: string) => new RegExp(`"${name}":(\\d+)`).exec(services.output())?.[1];
  await eventually(() => portOf('apiPort') !== undefined, { what: 'The ports in the log' });
  const [ingestUrl, apiUrl] = [portOf('ingestPort'), portOf('apiPort')].map((port) => `http://127.0.0.1:${port}`);

  /** Runs a command as the organization's owner, unless `env` contains a different key. */
  async function run(args: string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}) {
    const output = { out: '', err: '' };
    const exitCode = await runCli(args, {
      env: { API_URL: apiUrl, PERSONAL_API_KEY: tenant.personalApiKey, ...env },
      input: Readable.from([input]),
      out: { write: (text) => (output.out += text) },
      err: { write: (text) => (output.err += text) },
    });
    return { exitCode, ...output };
  }

  return {
    apiUrl,
    tenant,
    run,
    async runJson(...args: string[]) {
      const { exitCode, out, err } = await run([...args, '--json']);
      expect([exitCode, err]).toEqual([0, '']);
      return JSON.parse(out);
    },
    async capture(event: string, distinctId: string, properties: object = {}): Promise<void> {
      const body = JSON.stringify({ api_key: tenant.projectApiKey, event, distinct_id: distinctId, properties });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${ingestUrl}/capture/`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
    },
    async stop(): Promise<void> {
      await services.stop();
      await database.drop();
      await program.remove();
    },
  };
}

export type RunningServices = Awaited<ReturnType<typeof startRunningServices>>;
