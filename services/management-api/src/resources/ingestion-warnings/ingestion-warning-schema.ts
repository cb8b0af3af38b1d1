import { freeFormObject } from '@millrace/http';
import { Type } from 'typebox';

export const ingestionWarning = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the warning.' }),
    type: Type.String({ description: 'What happened, e.g. `missing_distinct_id`.' }),
    severity: Type.String({
      description: '`error`: an event was dropped; `warning`: kept but changed or partly refused; `info`: intended.',
    }),
    count: Type.Integer({ description: 'How many events the warning stands for.' }),
    details: freeFormObject({ description: 'Facts to act on.' }),
    timestamp: Type.String({ format: 'date-time', description: 'When it happened.' }),
  },
  { title: 'IngestionWarning' },
);

export const ingestionWarningExample = {
  id: '0193f0c5-7a4e-7000-8000-00000000beef',
  type: 'missing_distinct_id',
  severity: 'error',
  count: 3,
  details: { samples: [{ index: 3, event: 'checkout' }] },
  timestamp: '2026-11-20T08:15:00.250000Z',
};
