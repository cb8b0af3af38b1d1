import type { DrainMeasurement } from '../drain/measure-drain.ts';
import { median } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

export type ConsumerSide = 'millrace' | 'naive' | 'copy';

export interface ConsumerMeasurement extends DrainMeasurement {
  side: ConsumerSide;
}

/** Targets on 2 cores, with PostgreSQL on the same machine. */
const targets = { eventsPerSecond: 10_000, timesNaive: 4, timesCopy: 0.5, rssMegabytes: 200 } as const;

/** Every run, then medians with their ratios, then the targets and whether they are met. */
export function consumerReport(measurements: readonly ConsumerMeasurement[]): string {
  const of = (side: ConsumerSide) => medians(measurements.filter((run) => run.side === side));
  const ours = of('millrace');
  const others = [...new Set(measurements.map(({ side }) => side))].filter((side) => side !== 'millrace');
  const times = (side: ConsumerSide) => (ours[0] ?? Number.NaN) / (of(side)[0] ?? Number.NaN);
  const wrong = measurements.filter(({ sent, rows, uuids }) => rows !== sent || uuids !== sent);
  return [
    'Every run',
    textTable([
      ['run', ...headings, 's from spawn', 'sent', 'rows', 'uuids', 'persons'],
      ...measurements.map((run) => [
        run.side,
        ...medians([run]).map(known),
        readable(run.secondsFromSpawn),
        ...[run.sent, run.rows, run.uuids, run.persons].map(readable),
      ]),
    ]),
    '',
    'Medians',
    textTable([
      ['', ...headings],
      ['millrace', ...ours.map(known)],
      ...others.flatMap((side) => [
        [side, ...of(side).map(known)],
        [`millrace over ${side}`, ...ours.map((value, index) => ratio(value, of(side)[index]))],
      ]),
    ]),
    '',
    'The other sides store event rows only: no persons, merges, groups, warnings or protection against duplicates.',
    '',
    'Targets',
    verdict('mixed events per second', ours[0] ?? Number.NaN, { atLeast: targets.eventsPerSecond }),
    verdict('events per second over createMany', times('naive'), { atLeast: targets.timesNaive }),
    ...(others.includes('copy')
      ? [verdict('events per second over COPY of the rows', times('copy'), { atLeast: targets.timesCopy })]
      : []),
    verdict('max RSS MB', ours[3] ?? Number.NaN, { atMost: targets.rssMegabytes }),
    verdict('runs whose rows are not exactly the events sent', wrong.length, { atMost: 0 }),
  ].join('\n');
}

const headings = ['events/s', 'cpu µs/event', 'postgresql µs/event', 'max RSS MB'];

function medians(runs: readonly ConsumerMeasurement[]): number[] {
  return [
    median(runs.map((run) => run.eventsPerSecond)),
    median(runs.map((run) => run.cpuMicrosPerEvent)),
    median(runs.map((run) => run.databaseMicrosPerEvent)),
    median(runs.map((run) => run.maxRssBytes / 2 ** 20)),
  ];
}

function known(value: number): string {
  return Number.isNaN(value) ? '?' : readable(value);
}

function ratio(value: number, other = Number.NaN): string {
  const times = value / other;
  return Number.isNaN(times) ? '?' : times.toFixed(2);
}
