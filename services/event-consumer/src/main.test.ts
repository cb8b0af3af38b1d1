import { type ChildProcess, spawn } from 'node:child_process';
import { readEnvironment } from '@millrace/runtime';
import { type CompiledPrograms, compilePrograms } from '@millrace/testing';

let programs: CompiledPrograms;
beforeAll(async () => {
  programs = await compilePrograms(['services/event-consumer/src/main.ts']);
});
afterAll(() => programs.remove());

function start(settings: Record<string, string>): {
  child: ChildProcess;
  port: Promise<number>;
  exit: Promise<number | null>;
} {
  const child = spawn(process.execPath, programs.files, {
    env: {
      ...readEnvironment(),
      NODE_OPTIONS: '',
      HEALTH_PORT: '0',
      HEALTH_HOST: '127.0.0.1',
      LOG_LEVEL: 'error',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const exit = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const port = new Promise<number>((resolve, reject) => {
    child.once('message', (message: { type: string; port: number }) => resolve(message.port));
    void exit.then((code) => reject(new Error(`ended with ${code} before it listened`)));
  });
  port.catch(() => {});
  return { child, port, exit };
}

test('the consumer starts without its servers, is alive but not ready, and stops when requested', async () => {
  const nowhere = { DATABASE_URL: 'postgresql://u:p@127.0.0.1:1/x', KAFKA_BROKERS: '127.0.0.1:1' };
  const { child, port, exit } = start(nowhere);
  const url = `http://127.0.0.1:${await port}`;
  expect((await fetch(`${url}/_liveness`)).status).toBe(200);
  const readiness = await fetch(`${url}/_readiness`);
  expect(readiness.status).toBe(503);
  expect(await readiness.json()).toMatchObject({ failing: { consumers: expect.any(String) } });
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('millrace_consumer_batches_total');
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});

test('the consumer exits with an error code if the configuration is invalid', async () => {
  const { exit } = start({ DATABASE_URL: 'postgresql://u:p@127.0.0.1:1/x', CONSUMER_TOPICS: 'fast' });
  expect(await exit).toBe(1);
});
