import type { EvaluatorMeasurement, QuestionMeasurement, RequestRun } from './flags-measurement.ts';
import { median } from './statistics.ts';

/** NaN of no run. */
export function mediansOf(runs: readonly RequestRun[]): Omit<RequestRun, 'otherStatuses'> {
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
export function closedOf(questions: readonly QuestionMeasurement[], sought: QuestionMeasurement['side']) {
  return mediansOf(questions.find(({ side, loop }) => side === sought && loop === 'closed')?.runs ?? []);
}

/** CPU of one evaluation of so many flags; NaN where it was not measured. */
export function microsOf(evaluator: readonly EvaluatorMeasurement[], side: string, flags: number): number {
  return evaluator.find((one) => one.side === side && one.flags === flags)?.cpuMicros ?? Number.NaN;
}
