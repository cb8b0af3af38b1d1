// Reads insight queries. Fields that the console does not recognize are preserved.

import { escapeInvisible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export type Fields = Record<string, unknown>;

export interface InsightQuery extends Fields {
  kind: string;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const toFields = (value: unknown): Fields => (isFields(value) ? value : {});
export const toFieldsList = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** Returns the query without the node that contains its display settings. */
export function findSource(query: unknown): InsightQuery | null {
  if (!isFields(query) || typeof query.kind !== 'string') return null;
  return isFields(query.source) && /^(InsightVizNode|DataTableNode|DataVisualizationNode)$/.test(query.kind)
    ? findSource(query.source)
    : (query as InsightQuery);
}

export const getInsightName = ({ name, derived_name: derived }: { name: string | null; derived_name: string | null }) =>
  escapeInvisible(name || derived || text.unnamed);

export const newInsightQuery: InsightQuery = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: '$pageview', name: '$pageview', math: 'total' }],
  interval: 'day',
  dateRange: { date_from: '-30d' },
};
