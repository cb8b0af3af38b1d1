// The command `millrace dead-letters` lists dead letters, replays them (appends them to their original topic again), or
// discards them.

import { type DecidedDeadLetter, readDeadLetterDecisions, storeDeadLetterDecisions } from '@millrace/db';
import {
  type DecodedDeadLetter,
  decodeDeadLetter,
  findDeadLetterDecision,
  readTopic,
  toReplayedRecord,
  type UnreadPartition,
} from '@millrace/event-log';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type OpenLog, withLog } from '../event-log.ts';
import { Refusal, UsageError } from '../failures.ts';
import type { Row, Terminal } from '../output.ts';
import { type Session, withSession } from '../session.ts';

interface FilterOptions {
  reason?: string;
  projectApiKey?: string;
  since?: Date;
  until?: Date;
  all?: boolean;
}

type Letters = DecodedDeadLetter[];
type Work = (found: Letters, open: OpenLog, session: Session) => Promise<void>;

const nameArgument = 'dead letter name, as shown by `dead-letters list`, e.g. events.live/3/1042';
/**
 * Number of dead letters to replay in a batch. Decisions are stored after each batch, so that after an interruption,
 * only a few dead letters are replayed again.
 */
const replayPart = 100;

export function addDeadLetterCommands(program: Command, terminal: Terminal): void {
  const commands = program
    .command('dead-letters')
    .description(
      'manage records that the event consumer could not process. Requires the same EVENT_LOG, KAFKA_… and TOPIC_PREFIX settings as the consumer',
    );

  withFilters(commands.command('list'))
    .description('list dead letters that have not been replayed or discarded, oldest first in each partition')
    .option('--all', 'include replayed and discarded dead letters')
    .action((options: FilterOptions, command: Command) =>
      withLetters(
        { ...filterOf(options), includeDecided: options.all === true },
        command,
        terminal,
        async (found, _, session) => {
          const decisions = await readDeadLetterDecisions(session.sql);
          session.printer.table(
            found.map((letter) => ({ ...toRow(letter), decision: findDeadLetterDecision(letter, decisions) })),
          );
        },
      ),
    );

  commands
    .command('show')
    .description('show a dead letter and its event data')
    .argument('<name>', nameArgument)
    .action((name: string, _options: object, command: Command) =>
      withLetters({ names: [name], includeDecided: true }, command, terminal, async (found, _, { printer }) => {
        const letter = singleLetter(found, name);
        const value = letter.record.value.toString('utf8');
        printer.record({
          ...toRow(letter),
          key: letter.record.key,
          headers: JSON.stringify(letter.record.headers),
          value,
        });
      }),
    );

  withFilters(commands.command('replay'))
    .description(
      'send the records to their original topics again. Events that have been stored in the meantime do not change',
    )
    .argument('[names...]', nameArgument)
    .option('--all', 'all dead letters that have not been replayed or discarded')
    .action((names: string[], options: FilterOptions, command: Command) =>
      withLetters(selectionOf(names, options), command, terminal, async (found, { log }, { sql, printer }) => {
        requireAll(found, names);
        const whole = found.filter(({ hasValue }) => hasValue);
        for (let start = 0; start < whole.length; start += replayPart) {
          const part = whole.slice(start, start + replayPart);
          await log.append(part.map(toReplayedRecord));
          await storeDeadLetterDecisions(sql, positions(part), 'replayed');
        }
        for (const { name, hasValue } of found) {
          if (!hasValue)
            printer.note(
              `warning: the record of ${name} was too large to be stored as a dead letter. The record is still at its original position in the log`,
            );
        }
        printer.record({ replayed: whole.length, skipped: found.length - whole.length });
      }),
    );

  withFilters(commands.command('discard'))
    .description("mark dead letters as discarded. Their records stay in the log until the log's retention period ends")
    .argument('[names...]', nameArgument)
    .option('--all', 'all dead letters that have not been replayed or discarded')
    .action((names: string[], options: FilterOptions, command: Command) =>
      withLetters(selectionOf(names, options), command, terminal, async (found, _, { sql, printer }) => {
        requireAll(found, names);
        await storeDeadLetterDecisions(sql, positions(found), 'discarded');
        printer.record({ discarded: found.length });
      }),
    );
}

function withFilters(command: Command): Command {
  return command
    .option('--reason <reason>', 'only dead letters with this reason')
    .option('--project-api-key <key>', 'only dead letters of this project')
    .addOption(
      new Option(
        '--since <time>',
        'only records that failed at or after this time (ISO 8601, or an age such as 24h)',
      ).argParser(parseTime),
    )
    .addOption(new Option('--until <time>', 'only records that failed at or before this time').argParser(parseTime));
}

/** Reads the dead-letter topic from its start, and calls `work` with the dead letters that match the filter. */
function withLetters(filter: DeadLetterFilter, command: Command, terminal: Terminal, work: Work): Promise<void> {
  return withSession(command, terminal, (session) =>
    withLog(command, terminal, async (open) => {
      const decisions = await readDeadLetterDecisions(session.sql);
      // Collect the dead letters by name. The topic can contain the same one several times, because a consumer that
      // crashes before it stores its offset appends the dead letter again.
      const found = new Map<string, DecodedDeadLetter>();
      const unread = await readTopic(open.log, {
        topic: open.topics.deadLetter,
        from: 'start',
        until: 'end',
        signal: new AbortController().signal,
        onRecord(record) {
          const letter = decodeDeadLetter(record);
          if (letter !== null && matchesFilter(letter, filter, decisions))
            found.set(`${letter.name} ${letter.log}`, letter);
        },
      });
      for (const partition of unread) session.printer.note(incomplete(partition));
      await work([...found.values()], open, session);
    }),
  );
}

function incomplete({ partition, position, end }: UnreadPartition): string {
  return (
    `warning: partition ${partition} was only read up to ${position} of ${end}. ` +
    'The missing records were deleted by retention, or the log has a problem. Try again.'
  );
}

function filterOf({ reason, projectApiKey, since, until }: FilterOptions): DeadLetterFilter {
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(projectApiKey === undefined ? {} : { projectApiKey }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/**
 * Returns the filter for the dead letters to replay or discard. Selecting all of them requires --all. A dead letter
 * selected by name is included even if it was already replayed or discarded.
 * @throws UsageError without names, a filter or --all
 */
function selectionOf(names: string[], options: FilterOptions): DeadLetterFilter {
  const filter = filterOf(options);
  if (names.length > 0) return { ...filter, names, includeDecided: true };
  if (Object.keys(filter).length > 0 || options.all === true) return filter;
  throw new UsageError('Pass the names of dead letters, a filter such as --reason, or --all.');
}

function requireAll(found: Letters, names: string[]): void {
  for (const name of names) singleLetter(found, name);
}

function singleLetter(found: Letters, name: string): DecodedDeadLetter {
  const letter = found.find((one) => one.name === name);
  if (letter === undefined) throw new Refusal(`<name>: Dead letter ${name} not found.`);
  return letter;
}

function positions(letters: Letters) {
  return letters.map(({ position }) => position);
}

function toRow({ name, reason, step, at, record }: DecodedDeadLetter): Row {
  return { name, reason, step, at, bytes: record.value.length };
}

/** Filter for dead letters. An absent field matches all dead letters. */
interface DeadLetterFilter {
  names?: string[];
  reason?: string;
  projectApiKey?: string;
  since?: Date;
  until?: Date;
  /** Whether to include dead letters that were already replayed or discarded. */
  includeDecided?: boolean;
}

function matchesFilter(
  letter: DecodedDeadLetter,
  filter: DeadLetterFilter,
  decisions: ReadonlyMap<string, DecidedDeadLetter>,
): boolean {
  const { names, reason, projectApiKey, since, until, includeDecided } = filter;
  if (names !== undefined && !names.includes(letter.name)) return false;
  if (reason !== undefined && letter.reason !== reason) return false;
  if (projectApiKey !== undefined && letter.record.key?.split(':', 1)[0] !== projectApiKey) return false;
  if (since !== undefined && letter.at < since) return false;
  if (until !== undefined && letter.at > until) return false;
  return includeDecided === true || findDeadLetterDecision(letter, decisions) === null;
}

/** Parses an ISO 8601 time, or an age such as `90m`, `24h` or `7d`. */
function parseTime(text: string): Date {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };
  const date =
    ago === null ? new Date(text) : new Date(Date.now() - Number(ago[1]) * unitMs[ago[2] as 'm' | 'h' | 'd']);
  if (ago === null && !/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) {
    throw new InvalidArgumentError('Must be a time such as 2027-01-31T12:00:00Z, a date, or an age such as 24h.');
  }
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('This is not a valid date or time.');
  return date;
}
