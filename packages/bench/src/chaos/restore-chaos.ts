// Chaos test of a recovery: deletes the database under load and restores it from a backup.

import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { compilePrograms, eventually } from '@millrace/testing';
import type { Pool } from 'pg';
import type { Print } from '../harness/command.ts';
import { type ChaosOptions, type ChaosRun, reportPhases, startChaosRun } from './chaos-run.ts';
import { withChaosSystem } from './chaos-system.ts';
import { type PostgresBackup, startArchiving } from './postgres-backup.ts';

interface Round extends ChaosRun {
  operator: Operator;
  backup: PostgresBackup;
  startConsumers(): Promise<void>;
  stopConsumers(): Promise<void>;
}

const consumers = 2;
/** How many milliseconds to keep sending events after archiving, so that some are stored but not archived. */
const unarchivedMs = 4000;

/**
 * Deletes PostgreSQL's data while gateways acknowledge events, and restores the data from a base backup and the WAL
 * archive, without stopping any service. First restores to the end of the archive, as described in
 * docs/operations/backup.md, and then to an earlier time. Returns true if every acknowledged event is stored once, and
 * persons and groups are correct.
 */
export function runRestoreChaos(options: ChaosOptions, print: Print): Promise<boolean> {
  // Archiving can only be enabled when the server starts. `startArchiving` sets the archive command.
  return withChaosSystem(print, { postgres: { archive_mode: 'on' } }, async (system) => {
    const cli = await compilePrograms(['packages/cli/src/main.ts']);
    system.onEnd(cli.remove);
    const gateway = await system.startGateway(0);
    const running: { stop(): Promise<unknown> }[] = [];
    const startConsumers = async () => {
      for (let count = 0; count < consumers; count += 1) running.push(await system.startConsumer());
    };
    const stopConsumers = async () => void (await Promise.all(running.splice(0).map((one) => one.stop())));
    await startConsumers();
    const run = await startChaosRun(
      system,
      { ...options, phases: 4, urls: [`http://127.0.0.1:${gateway.port}`] },
      print,
    );
    const operator = createMillraceCommands(cli.files[0] ?? '', system.settings);
    const backup = await startArchiving(system.postgres.address);
    const round = { ...run, operator, backup, startConsumers, stopConsumers };
    const results = [
      await restoreRound('the server is lost', round, { toEndOfArchive: true }),
      await restoreRound('to an earlier time, without stopping services', round, { toEndOfArchive: false }),
    ];
    const isCorrect = reportPhases(results, print, {
      more: {
        'read again': (result) => result.unread,
        'finish s': (result) => result.finishSeconds,
        'catch up s': (result) => result.catchUpSeconds,
      },
    });
    // It is enough if one round has unread records. In the second round, the running consumers may have read all
    // records before the command counts them.
    return isCorrect && results.some(({ unread }) => unread > 0);
  });
}

async function restoreRound(
  name: string,
  { operator, backup, system, ...round }: Round,
  { toEndOfArchive }: { toEndOfArchive: boolean },
) {
  /** Number of records that `millrace restore finish` reported as not yet read by the restored database. */
  let unread = 0;
  let finishSeconds = 0;
  /** Time from the end of `millrace restore finish` until all acknowledged events are stored. */
  let catchUpSeconds = 0;
  const result = await round.phase(name, async () => {
    await sleep((round.seconds * 1000) / 3);
    await backup.takeBase();
    await sleep((round.seconds * 2000) / 3);
    const target = toEndOfArchive ? null : new Date();
    // Events that are stored from here on are not archived in the first round, and not restored in the second.
    if (toEndOfArchive) await backup.archiveAll();
    await sleep(unarchivedMs);
    if (!toEndOfArchive) await backup.archiveAll();
    await system.postgres.kill();
    backup.destroy();
    if (toEndOfArchive) await round.stopConsumers();
    await sleep((round.seconds * 1000) / 3);
    await backup.putBack(target);
    await system.postgres.restart();
    await waitUntilRecovered(system.database);
    const finishFrom = performance.now();
    // Retry, because consumers that read at full speed may leave no database connection for the command.
    ({ unread } = await eventually(operator.finishRestore, { what: 'Finishing the restore' }));
    const catchUpFrom = performance.now();
    finishSeconds = (catchUpFrom - finishFrom) / 1000;
    if (toEndOfArchive) await round.startConsumers();
    await round.settle();
    catchUpSeconds = (performance.now() - catchUpFrom) / 1000;
  });
  return { ...result, unread, finishSeconds, catchUpSeconds };
}

export async function waitUntilRecovered(database: Pool): Promise<void> {
  const isRecovered = async () => {
    const { rows } = await database.query<{ isRecovering: boolean }>('SELECT pg_is_in_recovery() AS "isRecovering"');
    return rows[0]?.isRecovering === false;
  };
  await eventually(isRecovered, { what: 'The end of the recovery' });
}

export type Operator = ReturnType<typeof createMillraceCommands>;

export function createMillraceCommands(program: string, settings: Record<string, string>) {
  return {
    async finishRestore(): Promise<{ unread: number }> {
      const words = [program, '--json', 'restore', 'finish'];
      const { stdout } = await promisify(execFile)(process.execPath, words, { env: settings });
      const topics = JSON.parse(stdout) as { unread: number }[];
      return { unread: topics.reduce((sum, topic) => sum + topic.unread, 0) };
    },
  };
}
