import type { DrainMeasurement } from '../drain/measure-drain.ts';
import { median } from './statistics.ts';
import { readable, textTable, verdict } from './text-table.ts';

export interface GrowthMeasurement extends DrainMeasurement {
  projects: number;
  /** Events that were stored beforehand. */
  stored: number;
}

/** One run, as it comes in. */
export function growthLine({ cpuMicrosPerEvent, databaseMicrosPerEvent, eventsPerSecond }: DrainMeasurement): string {
  const [own, database, rate] = [cpuMicrosPerEvent, databaseMicrosPerEvent, eventsPerSecond].map(readable);
  return `${own} + ${database} µs/event, ${rate} events/s`;
}

/** "Flat": what an event may cost over what it costs in the first situation. */
const flatness = 1.2;

/** The medians of each situation, what they are over the first one, and whether that is flat. */
export function growthReport(measurements: readonly GrowthMeasurement[]): string {
  const situations = [...new Set(measurements.map(nameOf))].map((name) => {
    const runs = measurements.filter((run) => nameOf(run) === name);
    return {
      name,
      rate: median(runs.map((run) => run.eventsPerSecond)),
      own: median(runs.map((run) => run.cpuMicrosPerEvent)),
      database: median(runs.map((run) => run.databaseMicrosPerEvent)),
      rss: median(runs.map((run) => run.maxRssBytes / 2 ** 20)),
    };
  });
  const [first, ...others] = situations;
  // Without a look at PostgreSQL's processes, at least the consumer's own cost is judged.
  const cost = ({ own, database }: { own: number; database: number }) => own + (Number.isNaN(database) ? 0 : database);
  const over = (situation: (typeof situations)[number]) => cost(situation) / (first ? cost(first) : Number.NaN);
  const wrong = measurements.filter(({ sent, rows, uuids }) => rows !== sent || uuids !== sent);
  return [
    `Medians of ${measurements.length / Math.max(1, situations.length)}`,
    textTable([
      ['', 'events/s', 'cpu µs/event', 'postgresql µs/event', 'over the first', 'max RSS MB'],
      ...situations.map((one) => [
        one.name,
        readable(one.rate),
        readable(one.own),
        Number.isNaN(one.database) ? '?' : readable(one.database),
        over(one).toFixed(2),
        readable(one.rss),
      ]),
    ]),
    '',
    'Targets',
    ...others.map((one) => verdict(`CPU per event, ${one.name} over ${first?.name}`, over(one), { atMost: flatness })),
    verdict('runs whose rows are not exactly the events sent', wrong.length, { atMost: 0 }),
  ].join('\n');
}

function nameOf({ projects, stored }: GrowthMeasurement): string {
  return `${readable(projects)} project(s), ${readable(stored)} stored`;
}
