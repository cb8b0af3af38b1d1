import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, dataDirectory, SetupProblem } from '../command.ts';
import { createReaper } from '../servers/server-process.ts';
import { createConnectionFile } from './connection-file.ts';
import { exampleShopFile } from './example-shop.ts';
import { lockInstance } from './instance-lock.ts';
import { runSystem } from './run-system.ts';
import { createStopRequest } from './stop-request.ts';
import { formatWelcome } from './welcome.ts';

/**
 * `npm start [-- --kafka] [-- --fresh]`: runs the complete system on this machine until it is stopped. With `--fresh`,
 * it starts with empty data and moves the existing data to a different directory.
 */
export const main: Command = async ({ progress, root, programArguments }) => {
  // bin/prepare/run-command.mjs has already rejected unknown options.
  const withKafka = programArguments.includes('--kafka');
  const isFresh = programArguments.includes('--fresh');
  const directory = dataDirectory(root);
  const release = lockInstance(directory);
  const connection = createConnectionFile(directory);
  // If the connection file exists now, it was left behind by a system that was killed.
  connection.remove();
  if (isFresh) moveDataAway(directory, progress.print);
  const logDirectory = join(directory, 'logs');
  mkdirSync(logDirectory, { recursive: true });
  const reaper = createReaper();
  const stopRequest = createStopRequest();
  try {
    const system = await runSystem({ root, directory, logDirectory, withKafka, reaper, progress, stopRequest });
    try {
      if (!stopRequest.isMade()) {
        connection.write(system.connection);
        const log = withKafka ? 'Kafka and Redis' : 'PostgreSQL only';
        const { consoleUrl, exampleUrl } = system;
        console.log(
          formatWelcome(system.connection, {
            root,
            connectionPath: connection.path,
            logDirectory,
            log,
            consoleUrl,
            exampleUrl,
          }),
        );
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

/** Moves databases, logs and keys to a new directory, from which they can be restored. */
function moveDataAway(directory: string, print: (line: string) => void): void {
  const data = ['postgres', 'kafka', 'redis', 'demo.json', exampleShopFile, 'secrets.key'].filter((name) =>
    existsSync(join(directory, name)),
  );
  if (data.length === 0) return;
  const aside = join(directory, `before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`);
  mkdirSync(aside);
  for (const name of data) renameSync(join(directory, name), join(aside, name));
  print(`  Moved the existing data to ${aside}`);
}
