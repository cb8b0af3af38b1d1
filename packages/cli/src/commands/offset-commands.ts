// `millrace offsets …`: commands that show and set the offsets at which consumers continue to read the event log.

import { type Command, InvalidArgumentError } from 'commander';
import { deleteLogOffsets, overrideOffset, type ReadOffset, readStoredOffsets, withLog } from '../event-log.ts';
import { Refusal, UsageError } from '../failures.ts';
import type { Row, Terminal } from '../output.ts';
import { type Session, withSession } from '../session.ts';

interface AcceptOptions {
  group?: string;
  from: 'start' | 'end' | bigint;
}

export function addOffsetCommands(program: Command, terminal: Terminal): void {
  const commands = program
    .command('offsets')
    .description(
      'manage stored offsets, which show how far consumers have read each log. Requires the same EVENT_LOG, KAFKA_… and ' +
        'TOPIC_PREFIX settings as the consumers',
    );

  commands
    .command('list')
    .description('list stored offsets, including those of previously used logs, and the end of each reachable log')
    .option('--unread', 'only partitions with unread records, and partitions whose log lost records that had been read')
    .action((options: { unread?: boolean }, command: Command) =>
      withOffsets(command, terminal, async (offsets, { printer }) => {
        const isWanted = ({ end, nextOffset }: ReadOffset) => options.unread !== true || end !== nextOffset;
        printer.table(offsets.filter(isWanted).map(toRow));
      }),
    );

  commands
    .command('accept')
    .description(
      'set where consumers continue in a partition whose log was truncated. `--from start` is safe: events that are already stored are skipped',
    )
    .argument('<partition>', 'topic and partition number, as shown by `offsets list`, e.g. events.live/3')
    .requiredOption('--from <offset>', 'start, end, or the offset of the next record to read', parseFrom)
    .option('--group <group>', 'only this consumer group (default: all groups that have read the partition)')
    .action((partition: string, options: AcceptOptions, command: Command) =>
      withOffsets(command, terminal, async (offsets, { prisma, printer }) => {
        const concerned = offsets.filter(
          (one) => nameOf(one) === partition && one.end !== null && (options.group ?? one.group) === one.group,
        );
        if (concerned.length === 0)
          throw new Refusal(`<partition>: No consumer group has read ${partition} in a reachable log.`);
        for (const one of concerned) await overrideOffset(prisma, one, toOffset(options.from, one));
        printer.table(concerned.map((one) => ({ ...toRow(one), next: Number(toOffset(options.from, one)) })));
      }),
    );

  commands
    .command('forget')
    .description(
      'delete the offsets of a log that no longer exists. If the log came back, consumers would read it from the start',
    )
    .argument('<log>', 'name of the log, as shown by `offsets list`')
    .action((log: string, _options: object, command: Command) =>
      withSession(command, terminal, async ({ prisma, printer }) => {
        const forgotten = await deleteLogOffsets(prisma, log);
        if (forgotten === 0) throw new Refusal(`<log>: No offsets are stored for ${log}.`);
        printer.record({ forgotten });
      }),
    );
}

function withOffsets(
  command: Command,
  terminal: Terminal,
  work: (offsets: ReadOffset[], session: Session) => Promise<void>,
): Promise<void> {
  return withSession(command, terminal, (session) =>
    withLog(command, terminal, async ({ log }) => work(await readStoredOffsets(session.prisma, log), session)),
  );
}

function toRow(offset: ReadOffset): Row {
  const { group, log, nextOffset, end, updatedAt } = offset;
  return {
    partition: nameOf(offset),
    group,
    log,
    next: Number(nextOffset),
    end: end === null ? null : Number(end),
    state: end === null ? 'former' : end < nextOffset ? 'truncated' : end > nextOffset ? 'unread' : 'read',
    updatedAt,
  };
}

function toOffset(from: AcceptOptions['from'], { end }: ReadOffset): bigint {
  if (from === 'start') return 0n;
  if (from === 'end') return end ?? 0n;
  if (from > (end ?? 0n)) throw new UsageError(`--from: The log ends at ${end}.`);
  return from;
}

function parseFrom(text: string): AcceptOptions['from'] {
  if (text === 'start' || text === 'end') return text;
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('Must be start, end or an offset.');
  return BigInt(text);
}

function nameOf({ topic, partition }: Pick<ReadOffset, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}
