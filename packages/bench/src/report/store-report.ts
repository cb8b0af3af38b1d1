import type { StoreSide } from '../store/store-worker.ts';
import { median } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

export interface StoreMeasurement {
  side: StoreSide;
  perSecond: number;
  cpuMicros: number;
  /** CPU of PostgreSQL's processes; NaN where it cannot be seen. */
  databaseMicros: number;
  /** What should be stored in the end, and what is. */
  expected: number;
  found: number;
}

const targets = { timesCopy: 0.5, timesCreateMany: 4, personsPerSecond: 30_000 } as const;

const names: Record<StoreSide, string> = {
  copy: 'COPY of event rows',
  createMany: 'createMany of event rows',
  processBatch: 'consumer, records to commit',
  persons: 'person upserts, half new',
};

/** Medians of each side, then the targets. */
export function storeReport(measurements: readonly StoreMeasurement[]): string {
  const of = (side: StoreSide, figure: (run: StoreMeasurement) => number) =>
    median(measurements.filter((run) => run.side === side).map(figure));
  const rate = (side: StoreSide) => of(side, ({ perSecond }) => perSecond);
  const sides = [...new Set(measurements.map(({ side }) => side))];
  const wrong = measurements.filter(({ expected, found }) => expected !== found);
  return [
    `Medians of ${measurements.length / Math.max(1, sides.length)}`,
    textTable([
      ['', 'per second', 'cpu µs each', 'postgresql µs each'],
      ...sides.map((side) => {
        const database = of(side, ({ databaseMicros }) => databaseMicros);
        return [
          names[side],
          readable(rate(side)),
          readable(of(side, ({ cpuMicros }) => cpuMicros)),
          Number.isNaN(database) ? '?' : readable(database),
        ];
      }),
    ]),
    '',
    'Targets',
    verdict('events per second over COPY of the rows', rate('processBatch') / rate('copy'), {
      atLeast: targets.timesCopy,
    }),
    verdict('events per second over createMany', rate('processBatch') / rate('createMany'), {
      atLeast: targets.timesCreateMany,
    }),
    verdict('person upserts per second', rate('persons'), { atLeast: targets.personsPerSecond }),
    verdict('runs that did not store exactly what they were given', wrong.length, { atMost: 0 }),
  ].join('\n');
}
