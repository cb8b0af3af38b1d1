import { Type } from 'typebox';

/** Schema of the body `toErrorBody` makes. */
export const errorSchema = Type.Object(
  {
    type: Type.String({ description: 'The family of the error.' }),
    code: Type.String({ description: 'Stable machine-readable word.' }),
    detail: Type.String({ description: 'A sentence for the person who made the request.' }),
    attr: Type.Union([Type.String(), Type.Null()], {
      description: 'The offending field, nested parts joined by two underscores; null when it is about no field.',
    }),
    error_event_id: Type.Optional(Type.String({ description: 'Only with 5xx: the id of the request in the log.' })),
  },
  { title: 'Error' },
);
