// Short notation for the tables of numbered cases: histories, queries and expected results.

import type { Dataset, InsightCase } from '../case-world.ts';

type Settings = Partial<Omit<InsightCase, 'no' | 'name' | 'dataset' | 'query' | 'expect'>>;

/** Creates a case. A dataset name refers to a dataset in insight-cases.json. */
export const row = (
  no: string,
  name: string,
  dataset: string | Dataset,
  query: unknown,
  expect: unknown,
  settings: Settings = {},
): InsightCase => ({
  ...{ no, name, dataset, query, timezone: 'UTC', weekStart: 0, now: '2024-03-20T12:00:00Z' },
  expect: expect as InsightCase['expect'],
  ...settings,
});

/** Expects status 400 and a detail that contains `part`. */
export const badRequest = (part: string) => ({ error: 400, detail: part });

/**
 * Creates a history from each person's events in a short notation: `paid 4 12:00 plan=pro`. Dates are in March 2024
 * unless they contain a year. Values are JSON or strings.
 * @param persons the persons that exist before their first event
 */
export function history(
  who: Record<string, string[]>,
  more: { persons?: Dataset['persons']; groups?: NonNullable<Dataset['groups']> } = {},
): Dataset {
  const events = Object.entries(who).flatMap(([distinct_id, did]) => did.map((one) => ({ distinct_id, ...read(one) })));
  return { events, persons: more.persons ?? [], ...(more.groups && { groups: more.groups }) };
}

function read(text: string) {
  const [event = '', day = '', time = '12:00', ...properties] = text.split(' ');
  const date = /^\d+$/.test(day) ? `2024-03-${day.padStart(2, '0')}` : day;
  return {
    event,
    timestamp: `${date}T${time}${time.length === 5 ? ':00' : ''}Z`,
    properties: Object.fromEntries(properties.map(readProperty)),
  };
}

function readProperty(text: string): [string, unknown] {
  const at = text.indexOf('=');
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}

export const person = (id: string, created: string, properties: Record<string, unknown> = {}) => ({
  ...{ distinct_ids: [id], created_at: `${created}T12:00:00Z`, properties },
});

export const node = (event: string | null, more: object = {}) => ({ kind: 'EventsNode', event, ...more });

export const seen = node('page seen');
export const left = node('page left');
export const tick = node('tick');
export const sale = node('sale');

export const series = (...results: object[]) => ({ results });
export const days = (...names: string[]) => series({ days: names });
export const daysFrom = (first: string, count: number) =>
  Array.from({ length: count }, (_, at) => new Date(Date.parse(first) + at * 86_400_000).toISOString().slice(0, 10));

export const range = (date_from?: string, date_to?: string, more: object = {}) => ({
  dateRange: { ...(date_from && { date_from }), ...(date_to && { date_to }), ...more },
});
export const march = (from: number, to: number) => range(`2024-03-${pad(from)}`, `2024-03-${pad(to)}`);
const pad = (day: number) => String(day).padStart(2, '0');

/** A trends query, from the 7th to the 17th of March 2024 by default. */
export const trends = (series: unknown, more: object = {}) => ({
  ...{ kind: 'TrendsQuery', ...march(7, 17), series: Array.isArray(series) ? series : [series] },
  ...more,
});
export const display = (name: string) => ({ trendsFilter: { display: name } });
export const filter = (key: string, operator: string, value?: unknown, more: object = {}) => ({
  ...{ key, operator, type: 'event', ...(value !== undefined && { value }), ...more },
});

export const funnel = (steps: (string | object | null)[], funnelsFilter: object = {}, more: object = {}) => ({
  ...{ kind: 'FunnelsQuery', ...march(1, 31), funnelsFilter },
  series: steps.map((step) => (typeof step === 'object' && step !== null ? step : node(step))),
  ...more,
});
export const steps = (...counts: number[]) => ({ results: counts.map((count) => ({ count })) });

export const retention = (retentionFilter: object = {}, more: object = {}) => ({
  ...{ kind: 'RetentionQuery', retentionFilter, ...more },
});
export const visits = {
  targetEntity: { id: 'visit', type: 'events' },
  returningEntity: { id: 'visit', type: 'events' },
};
export const counts = (...values: number[]) => ({ values: values.map((count) => ({ count })) });

export const lifecycle = (more: object = {}) => ({
  ...{ kind: 'LifecycleQuery', ...march(7, 17), series: [node('page seen')], ...more },
});

export const actorsOf = (source: object, more: object = {}) => ({
  ...{ kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source, ...more } },
});
export const funnelActorsOf = (source: object, more: object = {}) => ({
  ...{ kind: 'ActorsQuery', source: { kind: 'FunnelsActorsQuery', source, ...more } },
});
export const events = (select: string[], more: object = {}) => ({ kind: 'EventsQuery', select, ...more });

export const nullValue = '$$_posthog_breakdown_null_$$';
export const otherValue = '$$_posthog_breakdown_other_$$';
