import { type DecidedDeadLetter, decideDeadLetters, readDeadLetterDecisions } from '@millrace/db';
import {
  decisionOn,
  type ReadDeadLetter,
  readTopic,
  toDeadLetter,
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

type Letters = ReadDeadLetter[];
type Work = (found: Letters, open: OpenLog, session: Session) => Promise<void>;

const nameArgument = "the letter's name, as `dead-letters list` shows it, e.g. events.live/3/1042";
/** Records appended at once; decisions are noted after each such part, so that an interruption repeats little. */
const replayPart = 100;

export function addDeadLetterCommands(program: Command, terminal: Terminal): void {
  const commands = program
    .command('dead-letters')
    .description('records the event consumer could not process; reads EVENT_LOG, KAFKA_… and TOPIC_PREFIX as it does');

  withFilters(commands.command('list'))
    .description('list open letters (neither replayed nor discarded), the oldest of each partition first')
    .option('--all', 'also those that were replayed or discarded')
    .action((options: FilterOptions, command: Command) =>
      withLetters(
        { ...filterOf(options), includeDecided: options.all === true },
        command,
        terminal,
        async (found, _, session) => {
          const decisions = await readDeadLetterDecisions(session.sql);
          session.printer.table(found.map((letter) => ({ ...toRow(letter), decision: decisionOn(letter, decisions) })));
        },
      ),
    );

  commands
    .command('show')
    .description('show one whole, with the data of the event')
    .argument('<name>', nameArgument)
    .action((name: string, _options: object, command: Command) =>
      withLetters({ names: [name], includeDecided: true }, command, terminal, async (found, _, { printer }) => {
        const letter = only(found, name);
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
    .description('send records through their lane again; an event that was stored meanwhile stays as it is')
    .argument('[names...]', nameArgument)
    .option('--all', 'every open letter')
    .action((names: string[], options: FilterOptions, command: Command) =>
      withLetters(selectionOf(names, options), command, terminal, async (found, { log }, { sql, printer }) => {
        requireAll(found, names);
        const whole = found.filter(({ hasValue }) => hasValue);
        for (let start = 0; start < whole.length; start += replayPart) {
          const part = whole.slice(start, start + replayPart);
          await log.append(part.map(toReplayedRecord));
          await decideDeadLetters(sql, positions(part), 'replayed');
        }
        for (const { name, hasValue } of found) {
          if (!hasValue)
            printer.note(`warning: ${name} was too large to be kept here; its record is at its place in the log`);
        }
        printer.record({ replayed: whole.length, left: found.length - whole.length });
      }),
    );

  withFilters(commands.command('discard'))
    .description('mark letters as discarded; their records stay in the log until its retention ends')
    .argument('[names...]', nameArgument)
    .option('--all', 'every open letter')
    .action((names: string[], options: FilterOptions, command: Command) =>
      withLetters(selectionOf(names, options), command, terminal, async (found, _, { sql, printer }) => {
        requireAll(found, names);
        await decideDeadLetters(sql, positions(found), 'discarded');
        printer.record({ discarded: found.length });
      }),
    );
}

function withFilters(command: Command): Command {
  return command
    .option('--reason <reason>', 'only those given up for this reason')
    .option('--project-api-key <key>', 'only those of this project')
    .addOption(new Option('--since <time>', 'only those given up at this time or later').argParser(parseTime))
    .addOption(new Option('--until <time>', 'only those given up at this time or earlier').argParser(parseTime));
}

/** Reads the topic from its start and hands over the letters the filter leaves. */
function withLetters(filter: DeadLetterFilter, command: Command, terminal: Terminal, work: Work): Promise<void> {
  return withSession(command, terminal, (session) =>
    withLog(command, terminal, async (open) => {
      const decisions = await readDeadLetterDecisions(session.sql);
      // A crash between giving a record up and noting it repeats the letter: the name makes it one.
      const found = new Map<string, ReadDeadLetter>();
      const unread = await readTopic(open.log, {
        topic: open.topics.deadLetter,
        from: 'start',
        until: 'end',
        signal: new AbortController().signal,
        onRecord(record) {
          const letter = toDeadLetter(record);
          if (letter !== null && isWanted(letter, filter, decisions)) found.set(`${letter.name} ${letter.log}`, letter);
        },
      });
      for (const partition of unread) session.printer.note(incomplete(partition));
      await work([...found.values()], open, session);
    }),
  );
}

function incomplete({ partition, position, end }: UnreadPartition): string {
  return `warning: partition ${partition} was read to ${position} of ${end}: the log handed over no more of it. What is missing was removed by its retention, or the log does not answer well; try again.`;
}

function filterOf({ reason, projectApiKey, since, until }: FilterOptions): DeadLetterFilter {
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(projectApiKey === undefined ? {} : { projectApiKey }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** What is changed must be named: by letters, by a filter, or by --all. Letters named may have a decision already. */
function selectionOf(names: string[], options: FilterOptions): DeadLetterFilter {
  const filter = filterOf(options);
  if (names.length > 0) return { ...filter, names, includeDecided: true };
  if (Object.keys(filter).length > 0 || options.all === true) return filter;
  throw new UsageError('name the letters, give a filter such as --reason, or --all');
}

function requireAll(found: Letters, names: string[]): void {
  for (const name of names) only(found, name);
}

function only(found: Letters, name: string): ReadDeadLetter {
  const letter = found.find((one) => one.name === name);
  if (letter === undefined) throw new Refusal(`<name>: there is no dead letter ${name}`);
  return letter;
}

function positions(letters: Letters) {
  return letters.map(({ position }) => position);
}

function toRow({ name, reason, step, at, record }: ReadDeadLetter): Row {
  return { name, reason, step, at, bytes: record.value.length };
}

/** Which letters a command means; a field that is absent excludes none. */
interface DeadLetterFilter {
  names?: string[];
  reason?: string;
  projectApiKey?: string;
  since?: Date;
  until?: Date;
  /** Letters with a decision are left out unless this is set. */
  includeDecided?: boolean;
}

function isWanted(
  letter: ReadDeadLetter,
  filter: DeadLetterFilter,
  decisions: ReadonlyMap<string, DecidedDeadLetter>,
): boolean {
  const { names, reason, projectApiKey, since, until, includeDecided } = filter;
  if (names !== undefined && !names.includes(letter.name)) return false;
  if (reason !== undefined && letter.reason !== reason) return false;
  if (projectApiKey !== undefined && letter.record.key?.split(':', 1)[0] !== projectApiKey) return false;
  if (since !== undefined && letter.at < since) return false;
  if (until !== undefined && letter.at > until) return false;
  return includeDecided === true || decisionOn(letter, decisions) === null;
}

/** A time in ISO 8601, or so long ago: `90m`, `24h`, `7d`. */
function parseTime(text: string): Date {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };
  const date =
    ago === null ? new Date(text) : new Date(Date.now() - Number(ago[1]) * unitMs[ago[2] as 'm' | 'h' | 'd']);
  if (ago === null && !/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) {
    throw new InvalidArgumentError('Give a time like 2027-01-31T12:00:00Z, a day, or how long ago, like 24h.');
  }
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('There is no such time.');
  return date;
}
