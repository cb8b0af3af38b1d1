import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, testServers } from '@millrace/testing';
import { removePostgresFiles } from '../servers/postgres.ts';
import { findProcesses } from '../testing/find-processes.ts';
import { pasteIntoTerminal } from '../testing/paste.ts';
import { curlLines, sendAndListEvent, useStartDirectory } from '../testing/start-directory.ts';

const directory = useStartDirectory();

test('npm start restarts crashed services, leaves no process running when it is killed, and can then start again', async () => {
  const command = directory.start();
  await command.ready();
  const [services] = findProcesses(join(directory.path(), 'build/all-in-one.mjs'));
  process.kill(Number(services), 'SIGKILL');
  await eventually(() => command.output().includes('! The services process was terminated by SIGKILL'), {
    what: 'noticing the crash',
  });
  await eventually(async () => (await pasteIntoTerminal(String(curlLines(command)[0]))) === '{"status":"Ok"}', {
    what: 'coming back',
  });

  command.kill('SIGKILL');
  await directory.nothingRuns();
  expect(existsSync(join(directory.path(), 'connection.json'))).toBe(true);

  const again = directory.start();
  await again.ready();
  await sendAndListEvent(again);
}, 300_000);

test('npm start -- --fresh starts with empty data and keeps the previous data', async () => {
  const command = directory.start();
  const former = await command.ready();
  await sendAndListEvent(command);
  command.kill('SIGTERM');
  expect(await command.ended).toBe(0);

  const fresh = directory.start({}, ['--fresh']);
  expect((await fresh.ready()).projectApiKey).not.toBe(former.projectApiKey);
  expect(await pasteIntoTerminal(String(curlLines(fresh)[1]))).not.toContain('"distinct_id":"you"');
  const [aside = ''] = readdirSync(directory.path()).filter((name) => name.startsWith('before-'));
  expect(fresh.output()).toContain(join(directory.path(), aside));
  expect(readFileSync(join(directory.path(), aside, 'demo.json'), 'utf8')).toContain(former.projectApiKey);
  removePostgresFiles(join(directory.path(), aside, 'postgres'));
}, 300_000);

test('npm start -- --kafka stores events using a Kafka broker and Redis', async () => {
  const { kafkaBrokers, redisUrl } = testServers();
  const servers = { KAFKA_BROKERS: kafkaBrokers.join(','), REDIS_URL: redisUrl };
  const command = directory.start({ ...servers, TOPIC_PREFIX: `t-${randomUUID()}.` }, ['--kafka']);
  await command.ready();
  await sendAndListEvent(command);
  command.kill('SIGTERM');
  expect(await command.ended).toBe(0);
}, 300_000);
