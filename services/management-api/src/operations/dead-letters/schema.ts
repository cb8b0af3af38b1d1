// Request and response schemas of dead letters, which are records that Millrace could not process.

import { eventTopics } from '@millrace/contracts';
import { type Static, Type } from 'typebox';
import { describeReason, idPattern } from './read-dead-letters.ts';

export const states = ['waiting', 'replayed', 'discarded'] as const;

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const deadLetterFields = {
  id: Type.String({ description: 'Topic, partition and offset of the failed record.' }),
  topic: Type.Enum(eventTopics, { description: 'Topic that the record came from.' }),
  reason: Type.String({ description: 'Reason why processing failed, for example `refused_by_database`.' }),
  detail: Type.String({ description: 'The reason as a sentence.' }),
  advice: Type.String({ description: 'Recommended action.' }),
  captured_at: nullable('When the gateway received the record, or null if the record does not contain this time.'),
  dead_at: Type.String({ format: 'date-time', description: 'When Millrace stopped trying to process the record.' }),
  event: nullable('Event name, truncated to 200 characters. Null if the record does not have one.'),
  distinct_id: nullable('Distinct ID, truncated to 200 characters. Null if the record does not have one.'),
  bytes: Type.Integer({ description: 'Size of the record in bytes.' }),
  state: Type.Enum(states, {
    description:
      '`waiting` until an administrator replays or discards the dead letter, then `replayed` or `discarded`.',
  }),
};

export const deadLetterSchema = Type.Object(deadLetterFields, { title: 'DeadLetter' });
export type DeadLetterResponse = Static<typeof deadLetterSchema>;

export const deadLetterWithRecord = Type.Object(
  {
    ...deadLetterFields,
    record: Type.Unknown({
      description:
        'The captured record: as a string if it is not valid JSON, or null if it was too large to be stored with its dead letter.',
    }),
  },
  { title: 'WholeDeadLetter' },
);

export const deadLetterIds = Type.Object(
  {
    ids: Type.Array(Type.String({ pattern: idPattern }), {
      minItems: 1,
      maxItems: 100,
      description: 'IDs of dead letters.',
    }),
  },
  { title: 'DeadLetterIds' },
);

export const replayed = Type.Object(
  {
    replayed: Type.Integer({ description: 'Number of records sent to their topics again.' }),
    skipped: Type.Array(Type.Object({ id: Type.String(), why: Type.String() }), {
      description: 'Dead letters that were not replayed, each with the reason.',
    }),
  },
  { title: 'ReplayedDeadLetters' },
);

export const discarded = Type.Object(
  {
    discarded: Type.Integer({
      description: 'Number of dead letters discarded. Only waiting dead letters can be discarded.',
    }),
  },
  { title: 'DiscardedDeadLetters' },
);

export const deadLetterExample: DeadLetterResponse = {
  id: 'live-3-1042',
  topic: 'live',
  reason: 'refused_by_database',
  ...describeReason('refused_by_database'),
  captured_at: '2026-11-20T08:15:00.250Z',
  dead_at: '2026-11-20T08:15:02Z',
  event: 'checkout',
  distinct_id: 'user-42',
  bytes: 512,
  state: 'waiting',
};
