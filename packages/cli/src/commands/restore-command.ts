import type { Command } from 'commander';
import { readLogSettings } from '../log/open-log.ts';
import { Refusal } from '../refusals.ts';
import { moveCountersOn } from '../restore/move-counters-on.ts';
import { type LaneReplay, replayOfLanes } from '../restore/replay-of-lanes.ts';
import { isInRecovery } from '../restore/restore-store.ts';
import { withSession } from '../session.ts';
import type { Terminal } from '../terminal.ts';

export function addRestoreCommand(program: Command, terminal: Terminal): void {
  const commands = program
    .command('restore')
    .description('after PostgreSQL was restored from a backup, or failed over');
  commands
    .command('finish')
    .description(
      'before consumers start: keep ids and versions that were given since the backup from being given again, tell running services to forget what they remember, and show what will be processed again. Safe to repeat. Reads EVENT_LOG, KAFKA_… and TOPIC_PREFIX as consumers do. Exit code 1 when the log no longer has all of it',
    )
    .action((_options: object, command: Command) =>
      withSession(command, terminal, async ({ sql, prisma, printer, change }) => {
        const settings = readLogSettings(terminal);
        if (await isInRecovery(sql)) {
          throw new Refusal('--database-url: PostgreSQL is still in recovery; wait for its end, or promote it');
        }
        await change((tx) => moveCountersOn(tx));
        printer.note('Ids and versions were advanced; running services have been told to reload what they cache.');
        if (settings.config.eventLog === 'postgres') {
          printer.note('The event log was restored with the database: what it lacks cannot be recovered.');
          return;
        }
        const replay = await replayOfLanes(prisma, settings);
        printer.table(replay.map((lane) => ({ ...lane })));
        for (const lane of replay) if (!lane.isKnown) printer.note(explainUnknown(lane));
        const lost = replay.reduce((sum, { deleted }) => sum + deleted, 0);
        if (lost > 0)
          throw new Error(`Kafka has deleted ${lost} records that the restored database has not read: they are lost`);
      }),
    );
}

const explainUnknown = ({ topic }: LaneReplay) =>
  `${topic}: nothing of this log was read when the backup was made. It is read from its start; events already stored are skipped.`;
