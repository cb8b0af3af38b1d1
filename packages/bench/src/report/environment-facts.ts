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

/** Memory and distance of checkpoints decide what a large store costs: pages out of memory, and whole pages in the log. */
const telling = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size'];

export async function serverFacts(database: BenchDatabase): Promise<string[]> {
  const settings = await database.query<{ name: string; value: string }>(
    'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name',
    [['server_version', ...telling]],
  );
  const settingOf = (sought: string) => settings.find(({ name }) => name === sought)?.value;
  const told = telling.map((name) => `${name} ${settingOf(name)}`).join(', ');
  return [`postgresql  ${settingOf('server_version')} (${told})`];
}
