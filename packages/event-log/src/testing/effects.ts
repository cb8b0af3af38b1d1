import type { Database } from '@millrace/db';
import type { BatchResult, ConsumeOptions, LogBatch } from '../log.ts';
import { advanceOffset, lockOffset, readOffset } from '../offsets-store.ts';

export interface Effect {
  partition: number;
  offset: bigint;
  key: string | null;
  value: string;
  handledBy: string;
}

/**
 * Creates the table where handlers store their effects in order. It has no unique key, so that duplicates are visible.
 */
export async function createEffectTable(database: Database): Promise<void> {
  await database.sql.query(
    `CREATE TABLE IF NOT EXISTS effect (
       id bigint GENERATED ALWAYS AS IDENTITY, topic text NOT NULL, "group" text NOT NULL, partition int NOT NULL,
       "offset" bigint NOT NULL, key text, value text NOT NULL, handled_by text NOT NULL
     )`,
  );
}

/**
 * Creates a handler that works like the event consumer. The handler locks the stored offset, rejects a batch that does
 * not continue from it as stale, and stores the effects and the next offset in one transaction.
 */
export function createExactHandler(database: Database, topic: string, group: string, handledBy: string) {
  async function handler(batch: LogBatch): Promise<BatchResult> {
    return database.transaction(async (tx) => {
      const key = { topic, partition: batch.partition, group, log: batch.log };
      const stored = await lockOffset(tx, key);
      if (stored !== (batch.continuesFrom ?? 0n)) return { outcome: 'stale', nextOffset: stored };
      await tx.query(
        `INSERT INTO effect (topic, "group", partition, "offset", key, value, handled_by)
         SELECT $1, $2, $3, r."offset", r.key, r.value, $4
         FROM unnest($5::bigint[], $6::text[], $7::text[]) WITH ORDINALITY AS r("offset", key, value, number)
         ORDER BY r.number`,
        [
          topic,
          group,
          batch.partition,
          handledBy,
          batch.records.map(({ offset }) => String(offset)),
          batch.records.map(({ key }) => key),
          batch.records.map(({ value }) => value.toString()),
        ],
      );
      const [last] = batch.records.slice(-1);
      if (last === undefined) throw new Error('a batch must contain at least one record');
      await advanceOffset(tx, key, last);
      return { outcome: 'done', nextOffset: last.offset + 1n };
    });
  }

  return {
    startOffset: (partition, log) => readOffset(database.sql, { topic, partition, group, log }),
    handler,
  } satisfies Pick<ConsumeOptions, 'startOffset' | 'handler'>;
}

/** Returns a group's stored offset. The group must have read only one log. */
export async function storedOffset(
  database: Database,
  topic: string,
  group: string,
  partition: number,
): Promise<bigint | null> {
  const [row] = await database.sql.query<{ next_offset: string }>(
    'SELECT next_offset FROM consumer_offset WHERE topic = $1 AND partition = $2 AND "group" = $3',
    [topic, partition, group],
  );
  return row === undefined ? null : BigInt(row.next_offset);
}

export async function readEffects(database: Database, topic: string, group: string): Promise<Effect[]> {
  const rows = await database.sql.query<{
    partition: number;
    offset: string;
    key: string | null;
    value: string;
    handled_by: string;
  }>(`SELECT partition, "offset", key, value, handled_by FROM effect WHERE topic = $1 AND "group" = $2 ORDER BY id`, [
    topic,
    group,
  ]);
  return rows.map(({ offset, handled_by, ...row }) => ({ ...row, offset: BigInt(offset), handledBy: handled_by }));
}

export async function countEffects(database: Database, topic: string, group: string): Promise<number> {
  const [row] = await database.sql.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM effect WHERE topic = $1 AND "group" = $2',
    [topic, group],
  );
  return row?.count ?? 0;
}
