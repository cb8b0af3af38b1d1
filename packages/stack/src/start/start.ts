import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { dataDirectory } from '../data-directory.ts';
import { createReaper } from '../process/reaper.ts';
import { SetupProblem } from '../setup-problem.ts';
import { connectionFile } from './connection-file.ts';
import { lockInstance } from './instance-lock.ts';
import { runSystem } from './run-system.ts';
import { createStopRequest } from './stop-request.ts';
import { welcome } from './welcome.ts';

/** `npm start [-- --kafka]`: the whole system on this machine, until it is told to stop. */
export const main: Command = async ({ progress, root, programArguments }) => {
  const withKafka = readArguments(programArguments);
  const directory = dataDirectory(root);
  const release = lockInstance(directory);
  const connection = connectionFile(directory);
  // One that is there was left by a system that was killed.
  connection.remove();
  const logDirectory = join(directory, 'logs');
  mkdirSync(logDirectory, { recursive: true });
  const reaper = createReaper();
  const stopRequest = createStopRequest();
  try {
    const system = await runSystem({ root, directory, logDirectory, withKafka, reaper, progress, stopRequest });
    try {
      if (!stopRequest.isMade()) {
        connection.write(system.connection);
        const log = withKafka ? 'Kafka and Redis' : 'PostgreSQL alone';
        console.log(welcome(system.connection, { connectionPath: connection.path, logDirectory, log }));
      }
      await stopRequest.made;
    } finally {
      connection.remove();
      await system.stop();
    }
  } finally {
    reaper.dismiss();
    release();
  }
  const failure = stopRequest.failure();
  if (failure) throw new SetupProblem(failure);
  progress.print('Stopped.');
  return 0;
};

function readArguments(programArguments: readonly string[]): boolean {
  const unknown = programArguments.find((argument) => argument !== '--kafka');
  if (unknown !== undefined) throw new SetupProblem(`Unknown option ${unknown}. There is one: npm start -- --kafka`);
  return programArguments.includes('--kafka');
}
