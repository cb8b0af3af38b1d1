import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { removePostgresFiles } from '../servers/postgres.ts';
import { findProcesses } from './find-processes.ts';
import { pasteIntoTerminal } from './paste.ts';
import { runStartCommand, type StartCommand } from './start-command.ts';

export interface StartDirectory {
  /** The data directory. Its name contains a space and an umlaut. */
  path(): string;
  /** A port that is in use by a different program. `start` prefers it for the gateway and the API. */
  takenPort(): number;
  start(env?: Record<string, string>, options?: string[]): StartCommand;
  nothingRuns(): Promise<void>;
}

/**
 * Creates a data directory before the tests of a file. After each test, ends everything that it started. Removes the
 * directory at the end.
 */
export function useStartDirectory(): StartDirectory {
  let directory: string;
  let taken: Server;
  const commands: StartCommand[] = [];
  const takenPort = () => (taken.address() as AddressInfo).port;
  const nothingRuns = async () => {
    await eventually(() => findProcesses(directory).length === 0, { what: 'the end of all processes of the system' });
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'millrace start ü-'));
    // If tests run as root, PostgreSQL runs as a different user, who must be able to enter the directory.
    chmodSync(directory, 0o755);
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
  });
  afterEach(async () => {
    for (const command of commands.splice(0)) command.kill('SIGKILL');
    await nothingRuns();
  });
  afterAll(() => {
    taken.close();
    removePostgresFiles(join(directory, 'postgres'));
    rmSync(directory, { recursive: true, force: true });
  });

  return {
    path: () => directory,
    takenPort,
    start(env = {}, options = []) {
      const port = String(takenPort());
      const command = runStartCommand(directory, { INGEST_PORT: port, API_PORT: port, ...env }, { options });
      commands.push(command);
      return command;
    },
    nothingRuns,
  };
}

export const curlLines = (command: StartCommand) =>
  [...command.output().matchAll(/^ {2}(.*curl .*)$/gm)].map(([, line]) => String(line));

/** Runs the printed commands for sending an event and listing events. @returns the output of the second command */
export async function sendAndListEvent(command: StartCommand): Promise<string> {
  const [send = '', see = ''] = curlLines(command);
  expect(await pasteIntoTerminal(send)).toBe('{"status":"Ok"}');
  let seen = '';
  await eventually(
    async () => {
      seen = await pasteIntoTerminal(see);
      return seen.includes('"distinct_id":"you"');
    },
    { what: 'the arrival of the event' },
  );
  return seen;
}
