import { cpus, loadavg, totalmem } from 'node:os';
import type { BenchDatabase } from '../topic/bench-project.ts';
import type { BenchTopics } from '../topic/bench-topics.ts';

/** What a reader must know to compare the figures with their own. */
export async function environmentFacts(topics: BenchTopics, database: BenchDatabase): Promise<string[]> {
  const kafka = `kafka       ${await topics.describeBroker()}, on the same machine unless KAFKA_BROKERS says otherwise`;
  return [...processorFacts(), kafka, ...(await serverFacts(database))];
}

export function processorFacts(): string[] {
  const processors = cpus();
  return [
    `processor   ${processors[0]?.model.trim() ?? 'unknown'}, ${processors.length} core(s), ${Math.round(totalmem() / 2 ** 30)} GB`,
    `load        ${loadavg()[0]?.toFixed(1)} before the start (figures of a busy machine are worth little, CPU per event a little more)`,
    `node        ${process.version}`,
  ];
}

export async function serverFacts(database: BenchDatabase): Promise<string[]> {
  const [postgres] = await database.query<{ version: string; fsync: string; commit: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
            current_setting('synchronous_commit') AS commit`,
  );
  return [`postgresql  ${postgres?.version} (fsync ${postgres?.fsync}, synchronous_commit ${postgres?.commit})`];
}
