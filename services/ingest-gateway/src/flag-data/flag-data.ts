import type { ProjectChanges } from '@millrace/db/sql';
import {
  createFlagDefinitions,
  createFlagDocuments,
  type FlagDocument,
  type VersionedMemory,
} from '@millrace/flag-store';
import type { CompiledFlags } from '@millrace/flags';
import type { Metrics } from '@millrace/runtime';
import type { FlagDatabase } from './flag-database.ts';

/** What flags are answered from. */
export interface FlagData {
  definitions: VersionedMemory<CompiledFlags>;
  documents: VersionedMemory<FlagDocument>;
  database: FlagDatabase;
}

export interface FlagDataOptions {
  database: FlagDatabase;
  changes: Pick<ProjectChanges, 'subscribe' | 'isSubscribed'>;
  /** For definitions; documents, which are compressed, may take a quarter of it beside. */
  memoryBytes: number;
  metrics: Metrics;
}

export function createFlagData({ database, changes, memoryBytes, metrics }: FlagDataOptions): FlagData {
  const asked = metrics.counter(
    'millrace_flag_definitions_asked_total',
    'Questions to PostgreSQL about flag definitions, by what they were for (definitions, document) and what came of them (loaded, unchanged, failed)',
    ['what', 'outcome'],
  );
  const bytes = metrics.gauge('millrace_flag_definitions_bytes', 'Flag definitions kept in memory, estimated', [
    'what',
  ]);
  const resting = metrics.gauge(
    'millrace_flag_database_resting',
    '1 while PostgreSQL is not asked for flags because it did not answer three times in a row, else 0',
  );
  const memory = (what: 'definitions' | 'document', maxBytes: number) => ({
    sql: database.definitions,
    changes,
    maxBytes,
    onAsked: (outcome: string) => asked.inc({ what, outcome }),
  });
  const definitions = createFlagDefinitions(memory('definitions', memoryBytes));
  const documents = createFlagDocuments(memory('document', memoryBytes / 4));
  Object.assign(bytes, {
    collect() {
      bytes.set({ what: 'definitions' }, definitions.usedBytes());
      bytes.set({ what: 'document' }, documents.usedBytes());
    },
  });
  Object.assign(resting, { collect: () => resting.set(database.isResting() ? 1 : 0) });
  return { definitions, documents, database };
}
