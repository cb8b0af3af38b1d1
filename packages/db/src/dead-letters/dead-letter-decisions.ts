import type { PrismaClient } from '../generated/client.ts';

/** The position of a record in the log it came from: the name of its dead letter. */
export interface DeadLetterPosition {
  topic: string;
  partition: number;
  offset: bigint;
}

export type DeadLetterDecision = 'replayed' | 'discarded';

/** Notes what was decided; a later decision about the same letter replaces the former. */
export async function decideDeadLetters(
  client: Pick<PrismaClient, 'dead_letter_decision' | '$transaction'>,
  positions: DeadLetterPosition[],
  decision: DeadLetterDecision,
): Promise<void> {
  const decided_at = new Date();
  await client.$transaction(
    positions.map(({ topic, partition, offset }) =>
      client.dead_letter_decision.upsert({
        where: { topic_partition_offset: { topic, partition, offset } },
        create: { topic, partition, offset, decision, decided_at },
        update: { decision, decided_at },
      }),
    ),
  );
}

/** What was decided about the letter of a position, and when: one that was given up later is another letter. */
export interface DecidedDeadLetter {
  decision: DeadLetterDecision;
  at: Date;
}

/** All decisions, by `deadLetterName`. */
export async function readDeadLetterDecisions(
  client: Pick<PrismaClient, 'dead_letter_decision'>,
): Promise<Map<string, DecidedDeadLetter>> {
  const rows = await client.dead_letter_decision.findMany();
  return new Map(
    rows.map((row) => [
      deadLetterName(row),
      { decision: row.decision === 'replayed' ? 'replayed' : 'discarded', at: row.decided_at },
    ]),
  );
}

/** `events.live/3/1042`. */
export function deadLetterName({ topic, partition, offset }: DeadLetterPosition): string {
  return `${topic}/${partition}/${offset}`;
}
