/**
 * Tests cases filter-001 to filter-165: a filter must find the same events and persons in every list, count and query.
 */

import { isAppError } from '@millrace/runtime';
import { createTestTenant, type TestTenant } from '@millrace/testing';
import { readStreamFilter } from '../../operations/live/filters.ts';
import { engines } from '../../testing/engines.ts';
import { type FilterCase, filterCases, missing, refusedFilters, stored, zone } from '../../testing/filter-cases.ts';
import type { TestApi } from '../../testing/start-test-api.ts';
import { createMonths, storeEvent, storePerson } from '../../testing/stored-data.ts';

describe.each(engines)('property filters on $name', (engine) => {
  let api: TestApi;
  let tenant: TestTenant;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await engine.open();
    ({ api, stop } = opened);
    const { sql } = api.database;
    await createMonths(sql, '2026-11', '2026-11');
    tenant = await createTestTenant(api.database);
    await sql.query('UPDATE environment SET timezone = $2 WHERE id = $1', [tenant.environmentId, zone]);
    for (const [name, value] of [...Object.entries(stored), [missing, undefined] as const]) {
      const properties = value === undefined ? {} : { p: value };
      const personId = await storePerson(sql, tenant.environmentId, { distinctIds: [name], properties });
      await storeEvent(sql, tenant.environmentId, { event: name, distinctId: name, personId, properties });
    }
    await opened.follow();
  });
  afterAll(() => stop());

  type Filter = Pick<FilterCase, 'operator' | 'value'>;
  const at = (path: string) => `/api/projects/${tenant.projectId}/${path}`;
  const listed = (path: string, filter: object, more = '') =>
    api.get(`${at(path)}?properties=${encodeURIComponent(JSON.stringify([filter]))}${more}`, tenant.personalApiKey);
  const query = (body: object) => api.send('POST', at('query/'), { key: tenant.personalApiKey, body: { query: body } });
  const range = { dateRange: { date_from: '2026-11-01', date_to: '2026-11-30' } };
  const trend = (filter: object) =>
    query({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: null }], properties: [filter], ...range });
  const cohortWith = async (filter: object): Promise<number> => {
    const [row] = await api.database.sql.query<{ id: number }>(
      'INSERT INTO cohort (project_id, name, filters) VALUES ($1, $2, $3) RETURNING id',
      [tenant.environmentId, 'c', { properties: { type: 'AND', values: [filter] } }],
    );
    return row?.id ?? 0;
  };

  /**
   * The lists, counts and queries to compare. `found` contains the names of matching events or persons, or their
   * number.
   */
  const readers: Record<string, (filter: Filter) => Promise<{ status: number; attr?: string; found: unknown }>> = {
    async 'event list'(filter) {
      const { status, body } = await listed('events/', { key: 'p', ...filter });
      return { status, attr: body.attr, found: body.results?.map(({ event }: { event: string }) => event).sort() };
    },
    async 'event counts'(filter) {
      const { status, body } = await listed(
        'events/counts',
        { key: 'p', ...filter },
        '&interval=day&after=2026-11-01&before=2026-11-30',
      );
      return { status, attr: body.attr, found: body.total };
    },
    async 'person list'(filter) {
      const { status, body } = await listed('persons/', { key: 'p', type: 'person', ...filter });
      const found = body.results?.map(({ distinct_ids: [id] }: { distinct_ids: string[] }) => id).sort();
      return { status, attr: body.attr, found };
    },
    async insight(filter) {
      const { status, body } = await trend({ key: 'p', type: 'event', ...filter });
      return { status, attr: body.attr, found: body.results?.[0]?.count };
    },
    async 'insight by person'(filter) {
      const { status, body } = await trend({ key: 'p', type: 'person', ...filter });
      return { status, attr: body.attr, found: body.results?.[0]?.count };
    },
    async 'events query'(filter) {
      const { status, body } = await query({
        ...{ kind: 'EventsQuery', select: ['event'], after: '2026-11-01', before: '2026-11-30' },
        properties: [{ key: 'p', type: 'event', ...filter }],
      });
      return { status, attr: body.attr, found: body.results?.map(([event]: [string]) => event).sort() };
    },
    async 'cohort members'(filter) {
      // PostgreSQL cannot store some characters. For filters with these characters, the cohort cannot be created.
      const value = await cohortWith({ key: 'p', type: 'person', ...filter }).catch(() => null);
      if (value === null) return { status: 400, attr: 'query', found: undefined };
      const { status, body } = await trend({ key: 'id', type: 'cohort', value });
      return { status, attr: body.attr, found: body.results?.[0]?.count };
    },
  };
  const matchingLive: (typeof readers)[string] = async (filter) => {
    const given = { properties: JSON.stringify([{ key: 'p', ...filter }]) };
    const live = readStreamFilter(given, { testAccountFilters: [], timeZone: zone });
    const common = { id: '', isDrop: false, isHistorical: false, personProperties: {} };
    const found = [...Object.entries(stored), [missing, undefined] as const].filter(([event, value]) =>
      live.passes({
        ...{ ...common, event, distinctId: event, properties: value === undefined ? {} : { p: value } },
        ...{ toMessage: (properties) => properties, frame: () => Buffer.from('') },
      }),
    );
    return { status: 200, found: found.map(([name]) => name).sort() };
  };
  readers['live events'] = (filter) =>
    matchingLive(filter).catch((error: unknown) => {
      if (isAppError(error, 'invalid')) return { status: 400, attr: String(error.attr), found: undefined };
      throw error;
    });
  const isCounting = new Set(['event counts', 'insight', 'insight by person', 'cohort members']);

  test.each(filterCases.map((one) => [one.no, one.operator, one.value, one] as const))(
    '%s: every list, count and query finds the same records with %s %j',
    async (_no, operator, value, { found }) => {
      const results: Record<string, unknown> = {};
      for (const [name, read] of Object.entries(readers)) {
        const response = await read(value === undefined ? { operator } : { operator, value });
        results[name] = response.status === 200 ? response.found : response;
      }
      expect(results).toEqual(
        Object.fromEntries(Object.keys(readers).map((name) => [name, isCounting.has(name) ? found.length : found])),
      );
    },
  );

  test.each(refusedFilters.map((one) => [one.no, one.operator, one.value] as const))(
    '%s: every list, count and query returns 400 for %s %.20j',
    async (_no, operator, value) => {
      for (const [name, read] of Object.entries(readers)) {
        const { status, attr } = await read(value === undefined ? { operator } : { operator, value });
        const isList = ['event list', 'event counts', 'person list', 'live events'].includes(name);
        const expected = isList
          ? expect.stringMatching(/^properties__0__(value|operator)/)
          : expect.stringMatching(/^query/);
        expect([name, status, attr]).toEqual([name, 400, expected]);
      }
    },
  );
});
