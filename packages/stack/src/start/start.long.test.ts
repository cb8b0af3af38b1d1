import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { findProcesses } from '../testing/find-processes.ts';
import { pasteIntoTerminal } from '../testing/paste.ts';
import type { StartCommand } from '../testing/start-command.ts';
import { curlLines, sendAndListEvent, useStartDirectory } from '../testing/start-directory.ts';
import type { Connection } from './connection-file.ts';

const directory = useStartDirectory();

const printedCommand = (command: StartCommand) => String(/^ {2}(.*npx millrace .*)$/m.exec(command.output())?.[1]);

async function sendTestEvent({ apiUrl, projectId, personalApiKey }: Connection): Promise<void> {
  const path = `${apiUrl}/api/projects/${projectId}`;
  const headers = { authorization: `Bearer ${personalApiKey}` };
  const sent = await fetch(`${path}/test_event/`, { method: 'POST', headers });
  const { uuid } = (await sent.json()) as { uuid: string };
  await eventually(async () => (await fetch(`${path}/events/${uuid}/`, { headers })).status === 200, {
    what: 'the arrival of the test event',
  });
}

/** Runs the commands in the README, from the first event to the first flag, with the URLs and keys of this system. */
async function tryReadme(connection: Connection): Promise<string[]> {
  const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
  const [, newcomer = ''] =
    /^## Send your first event in one minute\n([\s\S]*?)^## When to use Millrace/m.exec(readme) ?? [];
  const lines = [...newcomer.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block]) => String(block))
    .join('')
    .replaceAll('http://127.0.0.1:8010', connection.apiUrl)
    .replaceAll('http://127.0.0.1:8000', connection.ingestUrl)
    .replaceAll('projects/1/', `projects/${connection.projectId}/`)
    .replaceAll('--environment 1', `--environment ${connection.environmentId}`)
    .replaceAll('phx_…', connection.personalApiKey)
    .replaceAll('phc_…', connection.projectApiKey)
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^(curl|npx) /.test(line));
  // Unset the tests' variables. Otherwise, `millrace` would use their database and not the running system's.
  const npx = `env -u DATABASE_URL -u KAFKA_BROKERS -u REDIS_URL MILLRACE_DATA_DIR='${directory.path()}' npx `;
  const outputs: string[] = [];
  for (const line of lines) {
    await eventually(
      async () => {
        const output = await pasteIntoTerminal(line.replace('curl ', 'curl -s ').replace('npx ', npx));
        // An event or a flag becomes visible only after a moment.
        if (line.includes('/events/')) expect(output).toContain('"distinct_id":"ada"');
        if (line.includes('/flags/?')) expect(JSON.parse(output).flags).toHaveProperty('new-checkout');
        outputs.push(output);
      },
      { what: `what the README promises of ${line}` },
    );
  }
  return outputs;
}

async function libraryOf({ shopUrl }: Connection): Promise<string> {
  const page = await (await fetch(shopUrl)).text();
  const [, address = ''] = /<script src="([^"]+\/array\.js)"/.exec(page) ?? [];
  const response = await fetch(address);
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  return response.text();
}

const flagsOf = (output: unknown) =>
  (output as { flags: Record<string, { enabled: boolean; variant?: string }> }).flags;

test('npm start stores an event on a new machine even if its ports are in use, and leaves only data after Ctrl-C', async () => {
  const command = directory.start();
  const connection = await command.ready();

  expect(statSync(join(directory.path(), 'connection.json')).mode & 0o777).toBe(0o600);
  expect(Object.keys(connection).sort()).toEqual(
    [
      ...['apiUrl', 'environmentId', 'ingestUrl', 'organizationId', 'personalApiKey', 'projectApiKey', 'projectId'],
      ...['settings', 'shopUrl'],
    ].sort(),
  );
  expect(findProcesses(join(directory.path(), 'build/'))).toHaveLength(1);
  expect([connection.ingestUrl, connection.apiUrl]).not.toContain(`http://127.0.0.1:${directory.takenPort()}`);
  expect((await libraryOf(connection)).slice(0, 2000)).toMatch(/^\/\/#.*\n\(function.*_POSTHOG_REMOTE_CONFIG/s);
  await sendAndListEvent(command);
  await sendTestEvent(connection);
  // Repeat the request, because on a busy machine, the database may exceed the time limit of flag requests.
  await eventually(
    async () =>
      expect(flagsOf(JSON.parse(await pasteIntoTerminal(String(curlLines(command)[2]))))).toMatchObject({
        'new-home-page': { enabled: true },
        'button-color': { enabled: true, variant: expect.stringMatching(/^(control|green|orange)$/) },
        'staff-tools': { enabled: false },
      }),
    { what: 'the flags of the demo' },
  );
  const [sent, listed, made, evaluated, changed, explained, secret, ...others] = await tryReadme(connection);
  expect([sent, JSON.parse(String(listed)).results[0]]).toEqual([
    '{"status":"Ok"}',
    expect.objectContaining({ event: 'hello', distinct_id: 'ada' }),
  ]);
  expect(JSON.parse(String(made))).toMatchObject({ key: 'new-checkout', active: true });
  const flags = flagsOf(JSON.parse(String(evaluated)));
  expect(Object.keys(flags).sort()).toEqual(['button-color', 'new-checkout', 'new-home-page', 'staff-tools']);
  expect(flags['new-checkout']).toMatchObject({ enabled: true });
  expect(changed).toMatch(/^rollout +20%$/m);
  expect(explained).toMatch(/^ {2}rollout 20%: hash 0\.\d+$/m);
  expect(secret).toMatch(/^secret key +phs_\w+$/m);
  expect(others).toEqual([]);

  expect(await pasteIntoTerminal(printedCommand(command))).toMatch(/^new-checkout +- +true +active +20%/m);

  const second = directory.start();
  expect(await second.ended).toBe(1);
  expect(second.output().trim().split('\n')).toEqual([expect.stringMatching(/already running/)]);
  expect(existsSync(join(directory.path(), 'connection.json'))).toBe(true);

  const seen = await pasteIntoTerminal(String(curlLines(command)[1]));
  command.kill('SIGINT');
  expect(await command.ended).toBe(0);
  expect(existsSync(join(directory.path(), 'connection.json'))).toBe(false);
  await directory.nothingRuns();

  const again = directory.start();
  expect(await again.ready()).toMatchObject({
    organizationId: connection.organizationId,
    projectApiKey: connection.projectApiKey,
    personalApiKey: connection.personalApiKey,
  });
  expect(await pasteIntoTerminal(String(curlLines(again)[1]))).toBe(seen);
}, 600_000);
