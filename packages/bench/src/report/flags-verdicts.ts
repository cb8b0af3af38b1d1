import type { EvaluatorMeasurement, FlagsMeasurement } from './flags-measurement.ts';
import { closedOf, mediansOf, microsOf } from './flags-medians.ts';
import { median } from './statistics.ts';
import { readable, verdict } from './text-table.ts';

/** On 2 cores. */
const targets = {
  ...{ smallMicros: 150, largeMicros: 2000, growth: 1.2 },
  ...{ questionMicros: 250, questionsPerSecond: 3000, questionP99Ms: 15, overUnleash: 3 },
  ...{ readMicros: 250, readDatabaseMicros: 200, readP99Ms: 20 },
  ...{ notModifiedMicros: 60, documentMicros: 300, addedMs: 5, memoryMb: 150 },
} as const;

const megabyte = 2 ** 20;

/** The targets and whether they are met. */
export function flagsVerdicts(measured: FlagsMeasurement): string[] {
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
