// SQL that stores and reads whether dead letters were replayed or discarded.

import type { Sql } from '../transaction.ts';

/** A record's position in its original topic. It identifies the dead letter. */
export interface DeadLetterPosition {
  topic: string;
  partition: number;
  offset: bigint;
}

export type DeadLetterDecision = 'replayed' | 'discarded';

/** Stores the same decision for several dead letters in one statement. It replaces earlier decisions about them. */
export async function storeDeadLetterDecisions(
  sql: Sql,
  positions: DeadLetterPosition[],
  decision: DeadLetterDecision,
): Promise<void> {
  await sql.query(
    `INSERT INTO dead_letter_decision (topic, partition, "offset", decision, decided_at)
     SELECT DISTINCT topic, partition, "offset", $4, $5::timestamptz
       FROM unnest($1::text[], $2::int[], $3::bigint[]) AS dead_letter (topic, partition, "offset")
     ON CONFLICT (topic, partition, "offset")
     DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at`,
    [
      positions.map(({ topic }) => topic),
      positions.map(({ partition }) => partition),
      positions.map(({ offset }) => String(offset)),
      decision,
      new Date(),
    ],
  );
}

/**
 * The decision about one dead letter, and the time of the decision. If the same record becomes a dead letter again
 * after that time, the decision does not apply to it.
 */
export interface DecidedDeadLetter {
  decision: DeadLetterDecision;
  at: Date;
}

export async function readDeadLetterDecisions(sql: Sql): Promise<Map<string, DecidedDeadLetter>> {
  const rows = await sql.query<{
    topic: string;
    partition: number;
    offset: string;
    decision: string;
    decided_at: Date;
  }>('SELECT topic, partition, "offset"::text AS "offset", decision, decided_at FROM dead_letter_decision');
  return new Map(
    rows.map(({ topic, partition, offset, decision, decided_at }) => [
      toDeadLetterName({ topic, partition, offset: BigInt(offset) }),
      { decision: decision === 'replayed' ? 'replayed' : 'discarded', at: decided_at },
    ]),
  );
}

/** Returns the dead letter's name, for example `events.live/3/1042`. */
export function toDeadLetterName({ topic, partition, offset }: DeadLetterPosition): string {
  return `${topic}/${partition}/${offset}`;
}
