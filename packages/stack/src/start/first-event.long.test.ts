import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { ensureNpmPackage } from '../fetched-programs.ts';
import { findNewestNodeRelease, pinPackage } from '../image/base.ts';
import { removePostgresFiles } from '../servers/postgres.ts';
import { runStartCommand, type StartCommand } from '../testing/start-command.ts';

let directory: string;
let command: StartCommand | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-first-event-'));
  // If the tests run as root, PostgreSQL runs as a different user.
  chmodSync(directory, 0o755);
});
afterEach(async () => {
  command?.kill('SIGKILL');
  await command?.ended;
  removePostgresFiles(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
});

/**
 * Downloads the newest patch release of a Node.js version, because users have releases that did not exist when this
 * test was written.
 */
async function fetchNode(line: number): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  return join(await ensureNpmPackage(await pinPackage(name, await findNewestNodeRelease(line, [name]))), 'bin/node');
}

test.each([20, 22, 24, 26])(
  'npm start stores a first event and stops when run with the newest Node.js %i',
  async (line) => {
    command = runStartCommand(directory, {}, { node: await fetchNode(line) });
    const { ingestUrl, apiUrl, projectId, projectApiKey, personalApiKey } = await command.ready();

    const body = JSON.stringify({ api_key: projectApiKey, event: 'hello', distinct_id: 'ada' });
    const sent = await fetch(`${ingestUrl}/capture/`, { method: 'POST', body });
    expect([sent.status, await sent.json()]).toEqual([200, { status: 'Ok' }]);
    await eventually(
      async () => {
        const headers = { authorization: `Bearer ${personalApiKey}` };
        const listed = await fetch(`${apiUrl}/api/projects/${projectId}/events/?event=hello`, { headers });
        expect(await listed.json()).toMatchObject({ results: [{ event: 'hello', distinct_id: 'ada' }] });
      },
      { what: 'the stored event' },
    );

    command.kill('SIGINT');
    expect(await command.ended).toBe(0);
  },
  400_000,
);
