import { readFileSync } from 'node:fs';
import { createFlagRows } from '@millrace/flags/store/testing/flag-rows';
import { createTestTenant, sampleOf, seededRandom, testSeed } from '@millrace/testing';
import { sendFlagRequest } from '../testing/flag-client.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';

/** A case as in packages/flags: `[document, category, flag, distinct ID, context, value, reason, payload, …]`. */
type FlagCase = [number, string, string, string, Record<string, unknown>, boolean | string, string, string | null];

interface CaseFile {
  static_cohorts: Record<string, string[]>;
  docs: { flags: CaseFlag[]; cohorts: Record<string, unknown>; group_type_mapping: Record<string, string> }[];
  cases: FlagCase[];
}

interface CaseFlag {
  id: number;
  key: string;
  active: boolean;
  filters: Record<string, unknown>;
  ensure_experience_continuity?: boolean;
  bucketing_identifier?: string;
}

const cases = new URL('../../../../packages/flags/src/testing/flag-cases.json', import.meta.url);
const { docs, static_cohorts, cases: all } = JSON.parse(readFileSync(cases, 'utf8')) as CaseFile;
/**
 * Omit the second document, because no project here uses its matching version. The tests in packages/flags/src/evaluate
 * cover all cases, and `npm test` sends a hundred of them over HTTP.
 */
const turn = Math.floor(seededRandom(testSeed())() * 100);
const rows = sampleOf(
  all.filter(([document]) => document === 0),
  { count: 100, turn },
);

let fixture: GatewayFixture;
let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  fixture = await createGatewayFixture();
  gateway = await fixture.startGateway();
  const tenant = await createTestTenant(fixture.database);
  ({ token } = tenant);
  await loadDocument(tenant.environmentId);
});
afterAll(() => fixture.stop());

test(`${rows.length} flag evaluations over HTTP have the expected result (sample ${turn})`, async () => {
  const differing: string[] = [];
  for (const [, category, flag, distinctId, context, value, reason, payload] of rows) {
    const { flags, body } = await sendFlagRequest(gateway, {
      token,
      distinct_id: distinctId,
      ...context,
      evaluation_runtime: 'all',
    });
    const actual = flags[flag] ?? 'omitted';
    const expected = reason === 'omitted' ? 'omitted' : `${value} ${reason}${reason.includes(':') ? '' : ':null'}`;
    const actualPayload = body.flags[flag]?.metadata.payload ?? null;
    if (!sameReason(actual, expected) || actualPayload !== payload) {
      differing.push(`${category} ${flag} ${distinctId}: ${actual} ${actualPayload}, not ${expected} ${payload}`);
    }
  }
  expect(differing).toEqual([]);
}, 240_000);

/** A failure has no condition index. */
function sameReason(actual: string, expected: string): boolean {
  return actual === expected || actual === `${expected}:null`;
}

async function loadDocument(environmentId: number): Promise<void> {
  const [document] = docs;
  if (document === undefined) throw new Error('The file has no document.');
  const { sql } = fixture.database;
  const flagRows = createFlagRows(sql);
  for (const [index, name] of Object.entries(document.group_type_mapping)) {
    await sql.query('INSERT INTO group_type_mapping VALUES ($1, $2, $3, now())', [environmentId, name, Number(index)]);
  }
  for (const [id, tree] of Object.entries(document.cohorts)) {
    await flagRows.addCohort(environmentId, { id: Number(id), filters: { properties: tree } });
  }
  for (const [id, members] of Object.entries(static_cohorts)) {
    await flagRows.addCohort(environmentId, { id: Number(id), is_static: true });
    for (const member of members) {
      await sql.query(
        `INSERT INTO person (project_id, uuid, main_distinct_id, created_at) VALUES ($1, gen_random_uuid(), $2, now())
         ON CONFLICT DO NOTHING`,
        [environmentId, member],
      );
    }
    await sql.query(
      `INSERT INTO person_distinct_id (project_id, distinct_id, person_uuid)
       SELECT project_id, main_distinct_id, uuid FROM person WHERE project_id = $1 ON CONFLICT DO NOTHING`,
      [environmentId],
    );
    await sql.query(
      `INSERT INTO cohort_member (project_id, cohort_id, person_uuid)
       SELECT project_id, $2, person_uuid FROM person_distinct_id WHERE project_id = $1 AND distinct_id = ANY ($3::text[])`,
      [environmentId, Number(id), members],
    );
  }
  const ids = new Map(document.flags.map(({ id, key }) => [key, String(id)]));
  const filtersText = (filters: unknown) =>
    JSON.parse(JSON.stringify(filters), (_name, value) =>
      value?.type === 'flag' ? { ...value, key: ids.get(value.key) ?? '999999' } : value,
    );
  for (const flag of document.flags) {
    await flagRows.addFlag(environmentId, flag.key, {
      id: flag.id,
      active: flag.active,
      filters: filtersText(flag.filters),
      ensure_experience_continuity: flag.ensure_experience_continuity ?? false,
      bucketing_identifier: flag.bucketing_identifier ?? null,
    });
  }
}
