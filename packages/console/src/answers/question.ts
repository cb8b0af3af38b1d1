// A question as pages know it: the query that the API takes, of which what they do not know stays as it is.

import { visible } from '../event-detail/json-text.ts';
import { text } from './words.ts';

export type Fields = Record<string, unknown>;

export interface Question extends Fields {
  kind: string;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** What is asked of what is stored, without what says how it is drawn. */
export function sourceOf(query: unknown): Question | null {
  if (!isFields(query) || typeof query.kind !== 'string') return null;
  return isFields(query.source) && /^(InsightVizNode|DataTableNode)$/.test(query.kind)
    ? sourceOf(query.source)
    : (query as Question);
}

/** What an insight is called. */
export const nameOfInsight = ({ name, derived_name: derived }: { name: string | null; derived_name: string | null }) =>
  visible(name || derived || text.unnamed);

/** The query that a new insight starts from. */
export const newQuestion: Question = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: '$pageview', name: '$pageview', math: 'total' }],
  interval: 'day',
  dateRange: { date_from: '-30d' },
};
