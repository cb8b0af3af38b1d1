import { median } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

export interface ConsumerMeasurement {
  side: 'millrace' | 'naive';
  eventsPerSecond: number;
  cpuMicrosPerEvent: number;
  maxRssBytes: number;
  /** Start of the process to last row, for the record. */
  secondsFromSpawn: number;
  sent: number;
  rows: number;
  /** Different uuids among the rows. */
  uuids: number;
  persons: number;
}

/** Targets of the first landing on 2 cores. */
const targets = { eventsPerSecond: 10_000, timesNaive: 2 } as const;

/** Every run, then medians with their ratios, then the targets and whether they are met. */
export function consumerReport(measurements: readonly ConsumerMeasurement[]): string {
  const ours = medians(measurements.filter(({ side }) => side === 'millrace'));
  const naive = medians(measurements.filter(({ side }) => side === 'naive'));
  const wrong = measurements.filter(({ sent, rows, uuids }) => rows !== sent || uuids !== sent);
  return [
    'Every run',
    textTable([
      ['run', ...headings, 's from spawn', 'sent', 'rows', 'uuids', 'persons'],
      ...measurements.map((run) => [
        run.side,
        ...medians([run]).map(readable),
        readable(run.secondsFromSpawn),
        ...[run.sent, run.rows, run.uuids, run.persons].map(readable),
      ]),
    ]),
    '',
    'Medians',
    textTable([
      ['', ...headings],
      ['millrace', ...ours.map(readable)],
      ['naive', ...naive.map(readable)],
      ['ratio', ...ours.map((value, index) => (value / (naive[index] ?? Number.NaN)).toFixed(2))],
    ]),
    '',
    'The naive side stores event rows only: no persons, merges, groups, warnings or protection against duplicates.',
    '',
    'Targets',
    verdict('mixed events per second', ours[0] ?? Number.NaN, { atLeast: targets.eventsPerSecond }),
    verdict('events per second over createMany', (ours[0] ?? Number.NaN) / (naive[0] ?? Number.NaN), {
      atLeast: targets.timesNaive,
    }),
    verdict('runs whose rows are not exactly the events sent', wrong.length, { atMost: 0 }),
  ].join('\n');
}

const headings = ['events/s', 'cpu µs/event', 'max RSS MB'];

function medians(runs: readonly ConsumerMeasurement[]): number[] {
  return [
    median(runs.map((run) => run.eventsPerSecond)),
    median(runs.map((run) => run.cpuMicrosPerEvent)),
    median(runs.map((run) => run.maxRssBytes / 2 ** 20)),
  ];
}
