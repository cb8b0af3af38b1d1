import { type MeasuredProcess, startMeasured } from '../process/measured-process.ts';
import type { EvaluatorMeasurement } from '../report/flags-measurement.ts';
import { median } from '../report/statistics.ts';
import type { CompareAnswer, CompareMessage, EvaluateAnswer, EvaluateMessage } from './evaluator-worker.ts';

/** By how many flags there are: what the targets are for, and what tells whether cost grows with them alone. */
const sizes = [50, 1000, 2000];
/** The SDK is for comparison: at the size that requests have. */
const sizesOfSdk = [50];

/** Both evaluators, turn about, each time in a process that has just been started. */
export async function measureEvaluator(
  file: string,
  { pairs, seconds }: { pairs: number; seconds: number },
  print: (line: string) => void,
): Promise<EvaluatorMeasurement[]> {
  const kinds = [
    ...sizes.map((flags) => ({ side: 'millrace' as const, flags })),
    ...sizesOfSdk.map((flags) => ({ side: 'posthog-node' as const, flags })),
  ];
  const runs = kinds.map((kind) => ({ ...kind, micros: [] as number[] }));
  for (let pair = 1; pair <= pairs; pair++) {
    print(`evaluator, pair ${pair} of ${pairs}`);
    for (const run of runs) {
      run.micros.push(await inWorker(file, (worker) => evaluateOnce(worker, { ...run, durationMs: seconds * 250 })));
    }
  }
  return runs.map(({ side, flags, micros }) => ({ side, flags, cpuMicros: median(micros) }));
}

/** Of how many values both evaluators agree. */
export async function compareEvaluators(file: string): Promise<{ values: number; agreed: number }> {
  return inWorker(file, async (worker) => {
    const message: CompareMessage = { type: 'compare', flags: sizes[0] ?? 0 };
    const answer = await worker.ask<CompareAnswer>(message, 'compared', 'failed');
    if (answer.type === 'failed') throw new Error(`Comparing failed: ${answer.message}`);
    return answer;
  });
}

async function evaluateOnce(worker: MeasuredProcess, run: Omit<EvaluateMessage, 'type'>): Promise<number> {
  const { side, flags, durationMs } = run;
  const message: EvaluateMessage = { type: 'evaluate', side, flags, durationMs };
  const answer = await worker.ask<EvaluateAnswer>(message, 'evaluated', 'failed');
  if (answer.type === 'failed') throw new Error(`Evaluating failed: ${answer.message}`);
  return answer.cpuMicros;
}

async function inWorker<Result>(file: string, work: (worker: MeasuredProcess) => Promise<Result>): Promise<Result> {
  const worker = await startMeasured(file);
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}
