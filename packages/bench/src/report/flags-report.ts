import type {
  BesideIngest,
  FlagsMeasurement,
  LimitedMemory,
  QuestionMeasurement,
  RequestRun,
} from './flags-measurement.ts';
import { closedOf, mediansOf, microsOf } from './flags-medians.ts';
import { flagsVerdicts } from './flags-verdicts.ts';
import { median } from './statistics.ts';
import { readable, textTable } from './text-table.ts';

const megabyte = 2 ** 20;

/** Medians and ratios, then the targets and whether they are met. */
export function flagsReport(measured: FlagsMeasurement): string {
  return [
    ...evaluatorLines(measured),
    '',
    'Requests (medians)',
    textTable([requestHeadings, ...requestRows(measured)]),
    '',
    ...besideLines(measured.besideIngest),
    '',
    ...memoryLines(measured),
    '',
    'Targets',
    ...flagsVerdicts(measured),
  ].join('\n');
}

function evaluatorLines({ evaluator, agreement }: FlagsMeasurement): string[] {
  const theirs = microsOf(evaluator, 'posthog-node', 50);
  return [
    'Evaluator (medians)',
    textTable([
      ['', 'flags', 'cpu µs', 'cpu µs/flag', 'ratio to posthog-node'],
      ...evaluator.map(({ side, flags, cpuMicros }) => [
        side,
        readable(flags),
        readable(cpuMicros),
        (cpuMicros / flags).toFixed(2),
        flags === 50 ? (cpuMicros / theirs).toFixed(2) : '',
      ]),
    ]),
    `both agree on ${readable(agreement.agreed)} of ${readable(agreement.values)} values`,
  ];
}

const requestHeadings = [
  ...['', 'requests/s', 'p50 ms', 'p99 ms', 'cpu µs/request', 'postgresql µs/request', 'max RSS MB', 'other answers'],
];

function requestRows({ questions, personReads, definitions }: FlagsMeasurement): string[][] {
  return [
    ...questions.map(({ side, loop, runs }) => requestRow(`50 flags, ${loop} loop, ${side}`, runs)),
    ...ratioRows(questions),
    requestRow('50 flags, person read, closed loop, millrace', personReads.closed),
    requestRow('50 flags, person read, 1,000/s, millrace', personReads.open),
    ...definitions.map(({ status, bytes, runs }) =>
      requestRow(`definitions of 500 flags, ${status}${bytes > 0 ? `, ${readable(bytes / 1000)} KB` : ''}`, runs),
    ),
  ];
}

function requestRow(name: string, runs: readonly RequestRun[]): string[] {
  const { requestsPerSecond, p50Ms, p99Ms, cpuMicros, databaseMicros, maxRssBytes } = mediansOf(runs);
  const others = Object.entries(othersOf(runs)).map(([status, count]) => `${status}: ${count}`);
  return [
    name,
    ...[requestsPerSecond, p50Ms, p99Ms, cpuMicros].map(readable),
    Number.isNaN(databaseMicros) ? '?' : readable(databaseMicros),
    readable(maxRssBytes / megabyte),
    others.join(', ') || 'none',
  ];
}

function ratioRows(questions: readonly QuestionMeasurement[]): string[][] {
  const [ours, theirs] = (['millrace', 'unleash'] as const).map((side) => closedOf(questions, side));
  if (ours === undefined || theirs === undefined || Number.isNaN(theirs.cpuMicros)) return [];
  const ratio = (name: 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros') => (ours[name] / theirs[name]).toFixed(2);
  const ratios = [ratio('requestsPerSecond'), ratio('p50Ms'), ratio('p99Ms'), ratio('cpuMicros')];
  return [['50 flags, closed loop, millrace over unleash', ...ratios, '', '', '']];
}

function besideLines({ alone, beside, questionsPerSecond }: BesideIngest): string[] {
  return [
    'Events in a closed loop, p99 ms',
    textTable([
      ['', 'runs', 'median'],
      ['alone', alone.map(readable).join(' '), readable(median(alone))],
      [`beside ${questionsPerSecond} questions/s`, beside.map(readable).join(' '), readable(median(beside))],
    ]),
  ];
}

function memoryLines({ memory, limitedMemory }: FlagsMeasurement): string[] {
  const row = (one: LimitedMemory) => [
    `FLAG_DEFINITIONS_MEMORY_MB=${one.limitBytes / megabyte}`,
    ...[one.keptBytes, one.rssBytes, one.countedBytes].map((bytes) => readable(bytes / megabyte)),
    ...[one.reloadedNewest, one.reloadedOldest].map((count) => `${count} of ${one.askedAgain}`),
  ];
  return [
    `Definitions of ${readable(memory.projects)} projects x 100 flags in memory`,
    textTable([
      ['', 'kept MB', 'RSS MB added', 'counted MB', 'newest read again', 'oldest read again'],
      ...[memory, ...limitedMemory].map(row),
    ]),
  ];
}

function othersOf(runs: readonly RequestRun[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { otherStatuses } of runs) {
    for (const [status, count] of Object.entries(otherStatuses)) sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}
