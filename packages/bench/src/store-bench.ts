import { randomUUID } from 'node:crypto';
import { compilePrograms } from '@millrace/testing';
import { backendCpuBetween, readBackendCpu } from './process/backend-cpu.ts';
import { type MeasuredProcess, startMeasured } from './process/measured-process.ts';
import { median, mediansByName, processorFacts, report, serverFacts } from './report/report.ts';
import type { PrepareMessage, StoreAnswer, StoreMessage, StoreSide } from './store/store-worker.ts';
import { type BenchDatabase, createBenchDatabase } from './topic/bench-project.ts';

export interface StoreBenchOptions {
  /** Runs of each side. */
  pairs: number;
  /** Events, and persons, of one run. */
  events: number;
}

const sides: StoreSide[] = ['copy', 'createMany', 'processBatch', 'persons'];
/** As many transactions at once as the consumer's live lane has. */
const streams = 2;

/** Storing without a log in front: the consumer's own way beside COPY and createMany, and its person upserts. */
export async function benchStore(options: StoreBenchOptions, print: (line: string) => void): Promise<void> {
  const programs = await compilePrograms(['packages/bench/src/store/store-worker.ts']);
  const [file = ''] = programs.files;
  const measurements: StoreMeasurement[] = [];
  try {
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const side of sides) {
        const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
        try {
          if (measurements.length === 0) {
            for (const line of [...processorFacts(), ...(await serverFacts(database))]) print(line);
          }
          print(`pair ${pair} of ${options.pairs}: ${side}`);
          measurements.push(await measure(file, { side, count: options.events }, database));
        } finally {
          await database.drop();
        }
      }
    }
    print('');
    print(storeReport(measurements));
  } finally {
    await programs.remove();
  }
}

async function measure(
  file: string,
  { side, count }: { side: StoreSide; count: number },
  database: BenchDatabase,
): Promise<StoreMeasurement> {
  const worker = await startMeasured(file, { DATABASE_URL: database.url });
  try {
    const { projectId, projectApiKey } = database;
    await ask(worker, { type: 'prepare', side, count, streams, projectId, projectApiKey });
    const look = async () => ({ own: await worker.usage(), backends: await readBackendCpu(database) });
    const before = await look();
    const answer = await ask(worker, { type: 'store' });
    const after = await look();
    if (answer.type !== 'stored') throw new Error(`The worker answered ${answer.type}.`);
    const [row] = await database.query<{ found: number }>(
      `SELECT count(*)::int AS found FROM ${side === 'persons' ? 'person' : 'event'}`,
    );
    return {
      side,
      perSecond: answer.count / (answer.elapsedMs / 1000),
      cpuMicros: (after.own.cpuMicros - before.own.cpuMicros) / answer.count,
      databaseMicros: backendCpuBetween(before.backends, after.backends) / answer.count,
      expected: count,
      found: row?.found ?? 0,
    };
  } finally {
    await worker.stop();
  }
}

async function ask(worker: MeasuredProcess, message: PrepareMessage | StoreMessage): Promise<StoreAnswer> {
  const answer = await worker.ask<StoreAnswer>(message, 'prepared', 'stored', 'failed');
  if (answer.type === 'failed') throw new Error(`Storing failed: ${answer.message}`);
  return answer;
}

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

const names: Record<StoreSide, string> = {
  copy: 'COPY of event rows',
  createMany: 'createMany of event rows',
  processBatch: 'consumer, records to commit',
  persons: 'person upserts, half new',
};

/** Medians of each side, then the targets. */
export function storeReport(measurements: readonly StoreMeasurement[]): string {
  const rate = (side: StoreSide) =>
    median(measurements.filter((run) => run.side === side).map(({ perSecond }) => perSecond));
  const wrong = measurements.filter(({ expected, found }) => expected !== found);
  const table = mediansByName(measurements, ({ side }) => names[side], {
    'per second': (run) => run.perSecond,
    'cpu µs each': (run) => run.cpuMicros,
    'postgresql µs each': (run) => run.databaseMicros,
  });
  return report(
    [['Medians', table]],
    [
      ['events per second over COPY of the rows', rate('processBatch') / rate('copy'), { atLeast: 0.5 }],
      ['events per second over createMany', rate('processBatch') / rate('createMany'), { atLeast: 4 }],
      ['person upserts per second', rate('persons'), { atLeast: 30_000 }],
      ['runs that did not store exactly what they were given', wrong.length, { atMost: 0 }],
    ],
  );
}
