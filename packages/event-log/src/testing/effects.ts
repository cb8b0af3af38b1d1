import type { Database } from '@millrace/db';
import type { BatchResult, ConsumeOptions, LogBatch } from '../event-log.ts';

export interface Effect {
  partition: number;
  offset: bigint;
  key: string | null;
  value: string;
  handledBy: string;
}

/** The table that shows, in order, what handlers have done. Nothing in it prevents doubles: they must show. */
export async function createEffectTable(database: Database): Promise<void> {
  await database.sql.query(
    `CREATE TABLE IF NOT EXISTS effect (
       id bigint GENERATED ALWAYS AS IDENTITY, topic text NOT NULL, "group" text NOT NULL, partition int NOT NULL,
       "offset" bigint NOT NULL, key text, value text NOT NULL, handled_by text NOT NULL
     )`,
  );
}

/**
 * A handler that works as the event consumer does: effects and the next offset in one transaction, the stored offset
 * locked at its start, a batch that does not go on from it refused as stale.
 */
export function createExactHandler(database: Database, topic: string, group: string, handledBy: string) {
  async function startOffset(_topic: string, partition: number): Promise<bigint | null> {
    return readOffset(database, topic, group, partition);
  }

  async function handler(batch: LogBatch): Promise<BatchResult> {
    return database.transaction(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, $3))`, [
        topic,
        group,
        batch.partition,
      ]);
      const [row] = await tx.query<{ next_offset: string }>(
        'SELECT next_offset FROM consumer_offset WHERE topic = $1 AND partition = $2 AND "group" = $3',
        [topic, batch.partition, group],
      );
      const stored = row === undefined ? null : BigInt(row.next_offset);
      if (stored !== batch.continuesFrom) return { outcome: 'stale', nextOffset: stored };
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
      const nextOffset = (batch.records.at(-1)?.offset ?? 0n) + 1n;
      await tx.query(
        `INSERT INTO consumer_offset (topic, partition, "group", next_offset) VALUES ($1, $2, $3, $4)
         ON CONFLICT (topic, partition, "group") DO UPDATE SET next_offset = excluded.next_offset, updated_at = now()`,
        [topic, batch.partition, group, String(nextOffset)],
      );
      return { outcome: 'done', nextOffset };
    });
  }

  return { startOffset, handler } satisfies Pick<ConsumeOptions, 'startOffset' | 'handler'>;
}

export async function readOffset(
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

/** All effects of a group on a topic, in the order they were committed for each partition. */
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
