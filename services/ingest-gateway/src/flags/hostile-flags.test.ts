import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createFlagRows, type FlagRows } from '@millrace/flag-store/testing/flag-rows';
import { createTestTenant } from '@millrace/testing';
import { askFlags } from '../testing/flag-client.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
let rows: FlagRows;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  rows = createFlagRows(fixture.database.sql);
  gateway = await fixture.startGateway();
});
afterAll(() => fixture.stop());

const person = (operator: string, value: unknown, key = 'p') => ({ key, type: 'person', operator, value });
const condition = (...properties: object[]) => ({ groups: [{ properties }] });
const nested = (levels: number): object =>
  levels === 0
    ? { type: 'AND', values: [person('exact', 'x')] }
    : { type: levels % 2 === 0 ? 'AND' : 'OR', values: [nested(levels - 1)] };

/** 100 ms are ordered for a machine of its own; in a test the client and all else run in the same process. */
const longestStallMs = 700;

/** Each makes its flags and returns a question that is answered with them. */
const attacks: Record<string, (environmentId: number) => Promise<{ question: object; expected: object }>> = {
  'F-90: patterns that backtrack': async (id) => {
    for (let index = 0; index < 40; index++) {
      await rows.addFlag(id, `f-${index}`, {
        filters: condition(person('regex', '(a+)+$'), person('regex', '(.*)*b')),
      });
    }
    return {
      question: { person_properties: { p: `${'a'.repeat(10_000)}!` } },
      expected: { 'f-0': 'false no_condition_match:0' },
    };
  },
  'patterns that repeat': async (id) => {
    for (let index = 0; index < 40; index++) {
      await rows.addFlag(id, `f-${index}`, { filters: condition(person('regex', '(a|b|c){600}$')) });
    }
    return {
      question: { person_properties: { p: 'c'.repeat(16_000) } },
      expected: { 'f-0': 'false no_condition_match:0' },
    };
  },
  'properties of a megabyte': async (id) => {
    for (let index = 0; index < 40; index++) {
      await rows.addFlag(id, `f-${index}`, { filters: condition(person('icontains', 'zz'), person('regex', 'z')) });
    }
    return {
      question: { person_properties: { p: 'aÄB'.repeat(240_000) } },
      expected: { 'f-0': 'false no_condition_match:0' },
    };
  },
  '10,000 flags': async (id) => {
    await fixture.database.sql.query(
      `INSERT INTO feature_flag (project_id, key, filters)
       SELECT $1, 'f-' || n, $2 FROM generate_series(0, 9999) n`,
      [id, JSON.stringify(condition(person('exact', ['x', 'y'])))],
    );
    return {
      question: { person_properties: { p: 'x' } },
      expected: { 'f-0': 'true condition_match:0', 'f-9999': 'true condition_match:0' },
    };
  },
  '200 nested cohorts': async (id) => {
    let inner = await rows.addCohort(id, { filters: { properties: nested(0) } });
    for (let level = 1; level < 200; level++) {
      const values = [
        { type: 'cohort', key: 'id', value: inner },
        { type: 'cohort', key: 'id', value: inner },
      ];
      inner = await rows.addCohort(id, { filters: { properties: { type: 'AND', values } } });
    }
    await rows.addFlag(id, 'f', { filters: condition({ type: 'cohort', key: 'id', value: inner }) });
    return { question: { person_properties: { p: 'x' } }, expected: { f: 'true condition_match:0' } };
  },
  '64 levels of groups': async (id) => {
    const cohort = await rows.addCohort(id, { filters: { properties: nested(64) } });
    await rows.addFlag(id, 'f', { filters: condition({ type: 'cohort', key: 'id', value: cohort }) });
    return { question: { person_properties: { p: 'x' } }, expected: { f: 'true condition_match:0' } };
  },
  'circles of flags and cohorts': async (id) => {
    const flag = await rows.addFlag(id, 'f');
    const cohort = await rows.addCohort(id, {});
    await fixture.database.sql.query('UPDATE feature_flag SET filters = $2 WHERE id = $1', [
      flag,
      JSON.stringify(condition({ key: String(flag), type: 'flag', operator: 'flag_evaluates_to', value: true })),
    ]);
    await fixture.database.sql.query('UPDATE cohort SET filters = $2 WHERE id = $1', [
      cohort,
      JSON.stringify({ properties: { type: 'OR', values: [{ type: 'cohort', key: 'id', value: cohort }] } }),
    ]);
    await rows.addFlag(id, 'c', { filters: condition({ type: 'cohort', key: 'id', value: cohort }) });
    return {
      question: {},
      expected: { f: 'false missing_dependency:null', c: 'false failed:dependency_cycle_cohort:null' },
    };
  },
  'filters that make no sense': async (id) => {
    for (const [index, filters] of [[], 'x', 7, { groups: 'x' }, { groups: [null, 1, { properties: 5 }] }].entries()) {
      await rows.addFlag(id, `f-${index}`, { filters });
    }
    return {
      question: { person_properties: { __proto__: null, p: 1 } },
      expected: { 'f-3': 'false no_group_type:null' },
    };
  },
};

test.each(Object.entries(attacks))('%s', async (_name, attack) => {
  const { token, environmentId } = await createTestTenant(fixture.database);
  const { question, expected } = await attack(environmentId);
  const stalls = monitorEventLoopDelay({ resolution: 10 });
  stalls.enable();
  const replies = await Promise.all([1, 2, 3].map(() => askFlags(gateway, { token, distinct_id: 'u', ...question })));
  stalls.disable();
  for (const { status, flags } of replies) expect([status, flags]).toEqual([200, expect.objectContaining(expected)]);
  expect(stalls.max / 1e6).toBeLessThan(longestStallMs);
  // Everybody else is still served.
  expect((await fetch(`${gateway.url}/_liveness`)).status).toBe(200);
});
