import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { compilePrograms, testServers } from '@millrace/testing';
import { measureDrain } from './drain/measure-drain.ts';
import { environmentFacts } from './report/report.ts';
import {
  inTurn,
  settleMs,
  startOtlpSink,
  type TracingMeasurement,
  tracedPart,
  tracingReport,
  tracingSettings,
} from './report/tracing-report.ts';
import { createBenchDatabase } from './topic/bench-project.ts';
import { connectBenchTopics } from './topic/bench-topics.ts';

const partitions = 8;

/** The event consumer with traces and without, turn about: both drain the same topic, in which one record in a hundred is traced. */
export async function benchConsumerTracing(
  options: { pairs: number; events: number },
  print: (line: string) => void,
): Promise<void> {
  const prefix = `bench-${randomUUID()}.`;
  const projectApiKey = `phc_bench_${randomUUID().replaceAll('-', '')}`;
  const topics = await connectBenchTopics(testServers().kafkaBrokers);
  const sink = await startOtlpSink();
  const programs = await compilePrograms(['services/event-consumer/src/main.ts']);
  const [file = ''] = programs.files;
  try {
    await topics.create(Object.values(topicNames(prefix)), partitions);
    print(`filling the topic with ${options.events} mixed events`);
    const load = { count: options.events, partitions, tracedPart };
    const lastEvents = await topics.preload(prefix, [projectApiKey], load);
    const topic = { prefix, partitions, count: options.events, lastEvents };
    const measurements: TracingMeasurement[] = [];
    for (let pair = 1; pair <= options.pairs; pair++) {
      for (const side of inTurn(pair)) {
        const database = await createBenchDatabase(projectApiKey);
        try {
          if (measurements.length === 0) for (const line of await environmentFacts(topics, database)) print(line);
          print(`pair ${pair} of ${options.pairs}: ${side}`);
          const spansBefore = sink.spans();
          const settings = tracingSettings(side, sink);
          const drain = await measureDrain(file, topic, database, { settleMs, settings });
          measurements.push({ ...drain, side, work: 'draining', spans: sink.spans() - spansBefore });
        } finally {
          await database.drop();
        }
      }
    }
    print('');
    print(tracingReport(measurements));
  } finally {
    await topics.stop();
    await programs.remove();
    await sink.stop();
  }
}
