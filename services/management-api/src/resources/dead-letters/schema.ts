import { lanes } from '@millrace/contracts';
import { type Static, Type } from 'typebox';
import { idPattern, wordsOf } from './letters.ts';

export const states = ['waiting', 'replayed', 'discarded'] as const;

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const letterFields = {
  id: Type.String({ description: 'Lane, partition and offset of the record that was given up.' }),
  lane: Type.Enum(lanes, { description: 'The lane it came from.' }),
  reason: Type.String({ description: 'Why it was given up, e.g. `refused_by_database`.' }),
  detail: Type.String({ description: 'The same in words.' }),
  advice: Type.String({ description: 'What to do, for people.' }),
  captured_at: nullable('When the gateway took it, where the record tells.'),
  dead_at: Type.String({ format: 'date-time', description: 'When it was given up.' }),
  event: nullable('Name of the event, cut to 200 characters, where the record tells.'),
  distinct_id: nullable('Who did it, cut to 200 characters, where the record tells.'),
  bytes: Type.Integer({ description: 'Size of the record.' }),
  state: Type.Enum(states, { description: '`waiting` until somebody decides: `replayed` or `discarded`.' }),
};

export const deadLetter = Type.Object(letterFields, { title: 'DeadLetter' });
export type ShownDeadLetter = Static<typeof deadLetter>;

export const wholeDeadLetter = Type.Object(
  {
    ...letterFields,
    record: Type.Unknown({
      description:
        'What was captured, as a text where it is no JSON; null when it was too large to be kept with its letter.',
    }),
  },
  { title: 'WholeDeadLetter' },
);

export const letterIds = Type.Object(
  {
    ids: Type.Array(Type.String({ pattern: idPattern }), {
      minItems: 1,
      maxItems: 100,
      description: 'Ids of dead letters.',
    }),
  },
  { title: 'DeadLetterIds' },
);

export const replayed = Type.Object(
  {
    replayed: Type.Integer({ description: 'How many were sent through their lane again.' }),
    skipped: Type.Array(Type.Object({ id: Type.String(), why: Type.String() }), { description: 'The others.' }),
  },
  { title: 'ReplayedDeadLetters' },
);

export const discarded = Type.Object(
  { discarded: Type.Integer({ description: 'How many were discarded: those that waited.' }) },
  { title: 'DiscardedDeadLetters' },
);

export const deadLetterExample: ShownDeadLetter = {
  id: 'live-3-1042',
  lane: 'live',
  reason: 'refused_by_database',
  ...wordsOf('refused_by_database'),
  captured_at: '2026-11-20T08:15:00.250Z',
  dead_at: '2026-11-20T08:15:02Z',
  event: 'checkout',
  distinct_id: 'user-42',
  bytes: 512,
  state: 'waiting',
};
