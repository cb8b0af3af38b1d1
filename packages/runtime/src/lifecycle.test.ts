import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually, typeScriptProcess } from '@millrace/testing';
import { createLifecycle, type Stoppable } from './lifecycle.ts';
import { createLogger } from './logger.ts';

const logger = createLogger('test', 'none');

function recordingParts() {
  const stopped: string[] = [];
  const part = (name: string, failure?: Error): Stoppable => ({
    async stop() {
      await new Promise((resolve) => setImmediate(resolve));
      stopped.push(name);
      if (failure) throw failure;
    },
  });
  return { stopped, part };
}

describe('the lifecycle of a process', () => {
  test('stops components one after the other, starting with the newest', async () => {
    const { stopped, part } = recordingParts();
    const lifecycle = createLifecycle(logger);
    const database = part('database');
    expect(lifecycle.own('database', database)).toBe(database);
    lifecycle.own('producer', part('producer'));
    lifecycle.own('server', part('server'));
    await lifecycle.stop();

    expect(stopped).toEqual(['server', 'producer', 'database']);
  });

  test('stops the remaining components when one fails to stop', async () => {
    const { stopped, part } = recordingParts();
    const lifecycle = createLifecycle(logger);
    lifecycle.own('database', part('database'));
    lifecycle.own('producer', part('producer', new Error('cannot flush')));
    lifecycle.own('server', {
      stop() {
        throw new Error('at once');
      },
    });
    await lifecycle.stop();

    expect(stopped).toEqual(['producer', 'database']);
  });

  test('stops each component only once', async () => {
    const { stopped, part } = recordingParts();
    const lifecycle = createLifecycle(logger);
    lifecycle.own('server', part('server'));
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    await lifecycle.stop();

    expect(stopped).toEqual(['server']);
  });

  test('stops components that are registered during the shutdown', async () => {
    const { stopped, part } = recordingParts();
    const lifecycle = createLifecycle(logger);
    lifecycle.own('database', part('database'));
    lifecycle.own('gate', {
      async stop() {
        lifecycle.own('late server', part('late server'));
      },
    });
    await lifecycle.stop();

    expect(stopped).toEqual(['late server', 'database']);
  });

  test('stops components that are registered after the shutdown', async () => {
    const { stopped, part } = recordingParts();
    const lifecycle = createLifecycle(logger);
    lifecycle.own('database', part('database'));
    await lifecycle.stop();
    lifecycle.own('late server', part('late server'));
    await lifecycle.stop();

    expect(stopped).toEqual(['database', 'late server']);
  });
});

/** Runs a service with two components in a separate process. `body` is added to its start function. */
function startService(body: string, drainTimeoutMs = 10_000) {
  const script = `
    import { createLogger } from './logger.ts';
    import { runProcess } from './lifecycle.ts';
    const say = (text) => process.stdout.write(text + '\\n');
    const part = (name) => ({ stop: async () => say('stop ' + name) });
    await runProcess(createLogger('test'), ${drainTimeoutMs}, async (lifecycle, fail) => {
      lifecycle.own('database', part('database'));
      lifecycle.own('server', part('server'));
      // The timer keeps the process alive, like a server would.
      setInterval(() => {}, 1000);
      ${body}
      say('started');
    });`;
  const child = spawn(process.execPath, [...typeScriptProcess.options, '--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: typeScriptProcess.env,
  });
  const service = { child, output: '', exit: null as { code: number | null; signal: string | null } | null };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      service.output += String(chunk);
    });
  }
  child.on('close', (code, signal) => {
    service.exit = { code, signal };
  });
  return service;
}

type Service = ReturnType<typeof startService>;

async function exitOf(service: Service, signal?: NodeJS.Signals) {
  if (signal) {
    await eventually(() => service.output.includes('started'), { what: 'The start of the service' });
    service.child.kill(signal);
  }
  await eventually(() => service.exit !== null, { what: 'The end of the service' });
  return { ...service.exit, output: service.output };
}

const stoppedInOrder = expect.stringMatching(/stop server\nstop database\n[\s\S]*"message":"stopped"/);

const endings: [string, () => Service, NodeJS.Signals | undefined, object][] = [
  ['SIGTERM', () => startService(''), 'SIGTERM', { code: 0, output: stoppedInOrder }],
  ['SIGINT', () => startService(''), 'SIGINT', { code: 0, output: stoppedInOrder }],
  [
    'a start that throws',
    () => startService(`throw new Error('no port');`),
    undefined,
    { code: 1, output: stoppedInOrder },
  ],
  [
    'fail()',
    () => startService(`setTimeout(() => fail(new Error('the consumer crashed')), 10);`),
    undefined,
    { code: 1, output: expect.stringMatching(/the consumer crashed[\s\S]*stop server\nstop database/) },
  ],
  [
    'an uncaught exception',
    () => startService(`setTimeout(() => { throw new Error('a bug'); }, 10);`),
    undefined,
    { code: 1, output: expect.stringMatching(/a bug[\s\S]*stop server\nstop database/) },
  ],
  [
    'an unhandled rejection',
    () => startService(`setTimeout(() => void Promise.reject('only text'), 10);`),
    undefined,
    { code: 1, output: expect.stringMatching(/only text[\s\S]*stop server\nstop database/) },
  ],
  [
    'a part that never stops',
    () => startService(`lifecycle.own('stuck', { stop: () => new Promise(() => {}) });`, 200),
    'SIGTERM',
    { code: 1, output: expect.stringContaining('stopping took longer than DRAIN_TIMEOUT_MS') },
  ],
  [
    'a failure while stopping',
    () =>
      startService(`lifecycle.own('failing', { stop: async () => {
        fail(new Error('cannot flush'));
        await new Promise((resolve) => setTimeout(resolve, 50));
      } });`),
    'SIGTERM',
    { code: 1, output: stoppedInOrder },
  ],
];

describe('the exit of a service process', () => {
  test.each(endings)('stops components in order and exits after %s', async (_, start, signal, expected) => {
    const service = start();
    try {
      expect(await exitOf(service, signal)).toMatchObject(expected);
    } finally {
      service.child.kill('SIGKILL');
    }
  });
});
