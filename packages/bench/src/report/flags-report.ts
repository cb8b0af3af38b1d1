import type {
  BesideIngest,
  EvaluatorMeasurement,
  FlagsMeasurement,
  LimitedMemory,
  QuestionMeasurement,
  RequestRun,
} from './flags-measurement.ts';
import { median, readable, textTable, verdict } from './report.ts';

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

/** On 2 cores. */
const targets = {
  ...{ smallMicros: 150, largeMicros: 2000, growth: 1.2 },
  ...{ questionMicros: 250, questionsPerSecond: 3000, questionP99Ms: 15, overUnleash: 3 },
  ...{ readMicros: 250, readDatabaseMicros: 200, readP99Ms: 20 },
  ...{ notModifiedMicros: 60, documentMicros: 300, addedMs: 5, memoryMb: 150 },
} as const;

/** The targets and whether they are met. */
function flagsVerdicts(measured: FlagsMeasurement): string[] {
  return [...evaluatorVerdicts(measured.evaluator), ...requestVerdicts(measured), ...memoryVerdicts(measured)];
}

function evaluatorVerdicts(evaluator: readonly EvaluatorMeasurement[]): string[] {
  const [small, large, twice] = [50, 1000, 2000].map((flags) => microsOf(evaluator, 'millrace', flags));
  const growth = (twice ?? Number.NaN) / 2 / (large ?? Number.NaN);
  return [
    verdict('evaluator, CPU µs of 50 flags', small ?? Number.NaN, { atMost: targets.smallMicros }),
    verdict('evaluator, CPU µs of 1,000 flags', large ?? Number.NaN, { atMost: targets.largeMicros }),
    verdict('evaluator, cost per flag of 2,000 over that of 1,000', growth, { atMost: targets.growth }),
  ];
}

function requestVerdicts({ questions, personReads, definitions, besideIngest }: FlagsMeasurement): string[] {
  const closed = closedOf(questions, 'millrace');
  const open = mediansOf(questions.find(({ side, loop }) => side === 'millrace' && loop === 'open')?.runs ?? []);
  const overUnleash = closed.requestsPerSecond / closedOf(questions, 'unleash').requestsPerSecond;
  const read = mediansOf(personReads.closed);
  const definition = (sought: number) => mediansOf(definitions.find(({ status }) => status === sought)?.runs ?? []);
  const added = median(besideIngest.beside) - median(besideIngest.alone);
  const ours = [
    ...questions.filter(({ side }) => side === 'millrace').flatMap(({ runs }) => runs),
    ...personReads.closed,
    ...personReads.open,
    ...definitions.flatMap(({ runs }) => runs),
  ];
  const failed = [...ours.map(({ otherStatuses }) => otherStatuses), besideIngest.otherStatuses];
  return [
    verdict('/flags, gateway CPU µs', closed.cpuMicros, { atMost: targets.questionMicros }),
    verdict('/flags, requests/s', closed.requestsPerSecond, { atLeast: targets.questionsPerSecond }),
    verdict('/flags, p99 ms at half load', open.p99Ms, { atMost: targets.questionP99Ms }),
    verdict('/flags, requests/s over those of Unleash', overUnleash, { atLeast: targets.overUnleash }),
    verdict('/flags with a person read, gateway CPU µs', read.cpuMicros, { atMost: targets.readMicros }),
    verdict('/flags with a person read, PostgreSQL CPU µs', read.databaseMicros, {
      atMost: targets.readDatabaseMicros,
    }),
    verdict('/flags with a person read, p99 ms at 1,000 requests/s', mediansOf(personReads.open).p99Ms, {
      atMost: targets.readP99Ms,
    }),
    verdict('definitions, 304, gateway CPU µs', definition(304).cpuMicros, { atMost: targets.notModifiedMicros }),
    verdict('definitions, 200, gateway CPU µs', definition(200).cpuMicros, { atMost: targets.documentMicros }),
    verdict('p99 ms of events added by questions beside', added, { atMost: targets.addedMs }),
    verdict('runs with other answers than expected', failed.filter((one) => Object.keys(one).length > 0).length, {
      atMost: 0,
    }),
  ];
}

function memoryVerdicts({ memory, limitedMemory }: FlagsMeasurement): string[] {
  // What was dropped takes no memory, and would make the figure look better than it is.
  const kept = memory.reloadedOldest === 0 ? memory.keptBytes / megabyte : Number.NaN;
  const excess = limitedMemory.map(({ countedBytes, limitBytes }) => (countedBytes - limitBytes) / megabyte);
  const dropped = limitedMemory.reduce((sum, { reloadedNewest }) => sum + reloadedNewest, 0);
  return [
    verdict(`MB of memory for ${readable(memory.projects)} projects x 100 flags`, kept, { atMost: targets.memoryMb }),
    verdict('MB counted above a limit', Math.max(0, ...excess), { atMost: 0 }),
    verdict('projects dropped that were asked for last', dropped, { atMost: 0 }),
  ];
}

/** NaN of no run. */
function mediansOf(runs: readonly RequestRun[]): Omit<RequestRun, 'otherStatuses'> {
  const of = (figure: (run: RequestRun) => number) => median(runs.map(figure));
  return {
    requestsPerSecond: of((run) => run.requestsPerSecond),
    cpuMicros: of((run) => run.cpuMicros),
    databaseMicros: of((run) => run.databaseMicros),
    p50Ms: of((run) => run.p50Ms),
    p99Ms: of((run) => run.p99Ms),
    maxRssBytes: of((run) => run.maxRssBytes),
  };
}

/** Of the closed loop of a side; NaN where it was not measured. */
function closedOf(questions: readonly QuestionMeasurement[], sought: QuestionMeasurement['side']) {
  return mediansOf(questions.find(({ side, loop }) => side === sought && loop === 'closed')?.runs ?? []);
}

/** CPU of one evaluation of so many flags; NaN where it was not measured. */
function microsOf(evaluator: readonly EvaluatorMeasurement[], side: string, flags: number): number {
  return evaluator.find((one) => one.side === side && one.flags === flags)?.cpuMicros ?? Number.NaN;
}
