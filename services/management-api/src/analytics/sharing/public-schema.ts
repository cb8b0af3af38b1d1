// Response schemas for visitors of public links, who see a shared insight or dashboard without an account.

import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { sharingExample } from './schema.ts';

const token = Type.String({ description: 'Token of the public link.' });
const at = Type.Integer({
  minimum: 0,
  maximum: 1000,
  description: 'Position of the tile, starting at 0. A shared insight is tile 0.',
});
export const linkParams = Type.Object({ access_token: token });
export const tileParams = Type.Object({ access_token: token, at });

const name = orNull(Type.String(), 'Name of the insight.');
const sharedTile = Type.Object(
  {
    text: orNull(Type.String(), 'Text in Markdown; null for an insight.'),
    name,
    layouts: freeFormObject({ description: 'Size of the tile: `{"sm": {"w": 6, "h": 5}}`.' }),
  },
  { title: 'SharedTile' },
);

export const sharedPage = Type.Object(
  {
    type: Type.Enum(['insight', 'dashboard'] as const, { description: 'Kind of the shared record.' }),
    name: orNull(Type.String(), 'Name of the insight or dashboard. Null with the setting `noHeader`.'),
    description: Type.String({ description: 'Description. Empty with the setting `noHeader`.' }),
    timezone: Type.String({ description: 'Time zone of the project.' }),
    theme: Type.String({ description: 'Colors of the page: `light`, `dark` or `system`.' }),
    tiles: Type.Array(sharedTile, { description: 'The tiles, in the order of the page.' }),
  },
  { title: 'SharedPage' },
);

const statuses = ['ready', 'pending', 'failed', 'hidden'] as const;
export type SharedStatus = (typeof statuses)[number];

const types = Type.Array(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 2, maxItems: 2 })]));
export type SharedTypes = (string | [string, string])[];

export const sharedInsight = Type.Object(
  {
    status: Type.Enum(statuses, {
      description:
        '`ready`; `pending` if a current result is not available yet; `failed` if the query failed; `hidden` for insights that ' +
        'list persons or events, and for those that are not open to all members of the project.',
    }),
    name,
    query: orNull(freeFormObject(), 'How the result is drawn. Filters and the text of SQL are left out.'),
    result: Type.Unknown({ description: 'The numbers, or null.' }),
    columns: orNull(Type.Array(Type.String()), 'Columns of the result, if it is a table.'),
    types: orNull(types, 'Types of the columns, if it is a table: for SQL, pairs of the name and the ClickHouse type.'),
    last_refresh: orNull(Type.String({ format: 'date-time' }), 'When the result was computed.'),
  },
  { title: 'SharedInsight' },
);

export const sharedPageExample = {
  type: 'dashboard' as const,
  name: 'Website',
  description: '',
  timezone: 'UTC',
  theme: 'system',
  tiles: [{ text: null, name: 'Visitors', layouts: { sm: { w: 6, h: 5 } } }],
};

export const sharedInsightExample = {
  status: 'ready' as const,
  name: 'Visitors',
  query: { kind: 'TrendsQuery', interval: 'day', trendsFilter: { display: 'ActionsLineGraph' } },
  result: [{ label: '$pageview', count: 3, data: [1, 2], days: ['2026-11-19', '2026-11-20'] }],
  columns: null,
  types: null,
  last_refresh: sharingExample.created_at,
};
