import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import type { GatewayBenchOptions } from './gateway-bench.ts';
import { measureGateway } from './load/measure-gateway.ts';
import { gatewaySettings } from './process/gateway-settings.ts';
import { type MeasuredProcess, startMeasured } from './process/measured-process.ts';
import { environmentFacts } from './report/report.ts';
import {
  inTurn,
  type OtlpSink,
  settleMs,
  startOtlpSink,
  type TracedSide,
  type TracingMeasurement,
  tracingReport,
  tracingSettings,
} from './report/tracing-report.ts';
import { createBenchDatabase } from './topic/bench-project.ts';
import { connectBenchTopics } from './topic/bench-topics.ts';
import { type WorkloadName, workloads } from './workload/gateway-workloads.ts';

const partitions = 8;
const warmUpMs = 3000;

/** The gateway with traces and without, turn about, as fast as it can. */
export async function benchGatewayTracing(options: GatewayBenchOptions, print: (line: string) => void): Promise<void> {
  const { kafkaBrokers, redisUrl } = testServers();
  const prefix = `bench-${randomUUID()}.`;
  const database = await createBenchDatabase(`phc_bench_${randomUUID().replaceAll('-', '')}`);
  const topics = await connectBenchTopics(kafkaBrokers);
  const sink = await startOtlpSink();
  const programs = await compilePrograms([
    'services/ingest-gateway/src/main.ts',
    'packages/bench/src/load/load-generator.ts',
  ]);
  const [gatewayFile = '', loadFile = ''] = programs.files;
  const startGateway = (side: TracedSide) =>
    startMeasured(gatewayFile, {
      ...{ KAFKA_BROKERS: kafkaBrokers.join(','), LOG_LEVEL: 'warn' },
      ...gatewaySettings({ databaseUrl: database.url, redisUrl, prefix, partitions }),
      ...tracingSettings(side, sink),
    });
  const load = await startMeasured(loadFile, {});
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    for (const line of await environmentFacts(topics, database)) print(line);
    const measurements: TracingMeasurement[] = [];
    for (const workload of Object.keys(workloads) as WorkloadName[]) {
      const { projectApiKey } = database;
      measurements.push(
        ...(await measurePairs(workload, { ...options, projectApiKey, load, startGateway, sink, print })),
      );
    }
    print('');
    print(tracingReport(measurements));
  } finally {
    await load.stop();
    await topics.stop();
    await database.drop();
    await programs.remove();
    await sink.stop();
  }
}

interface PairsRun extends GatewayBenchOptions {
  projectApiKey: string;
  load: MeasuredProcess;
  startGateway(side: TracedSide): Promise<MeasuredProcess>;
  sink: OtlpSink;
  print(line: string): void;
}

/** New processes in each pair: two of the same build differ by more, for as long as they live, than tracing costs. */
async function measurePairs(
  workload: WorkloadName,
  { projectApiKey, load, startGateway, sink, print, ...options }: PairsRun,
): Promise<TracingMeasurement[]> {
  const isSingle = workloads[workload].eventsPerRequest === 1;
  const connections = isSingle ? options.connections : Math.ceil(options.connections / 16);
  const job = { workload, projectApiKey, connections, requestsPerSecond: null };
  const measurements: TracingMeasurement[] = [];
  for (let pair = 1; pair <= options.pairs; pair++) {
    for (const side of inTurn(pair)) {
      print(`${workload}, pair ${pair} of ${options.pairs}: ${side}`);
      const gateway = await startGateway(side);
      try {
        await measureGateway(gateway, load, { ...job, durationMs: warmUpMs }, { settleMs });
        const spansBefore = sink.spans();
        const timed = { ...job, durationMs: options.seconds * 1000 };
        const run = await measureGateway(gateway, load, timed, { settleMs });
        measurements.push({
          ...{ side, work: workload, cpuMicrosPerEvent: run.cpuMicrosPerEvent },
          eventsPerSecond: run.acknowledgedEvents / (run.elapsedMs / 1000),
          spans: sink.spans() - spansBefore,
        });
      } finally {
        await gateway.stop();
      }
    }
  }
  return measurements;
}
