import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase, createTestTenant } from '@millrace/testing';
import { findUnknownMetrics } from './metric-names.ts';
import { runPromtool } from './promtool.ts';

interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; w: number };
  targets?: { expr?: string; rawSql?: string }[];
}
interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
  templating: { list: { name: string; query: string; allValue?: string }[] };
}

const directory = fileURLToPath(new URL('../../../deploy/observability/dashboards/', import.meta.url));
const dashboards = readdirSync(directory).map(
  (file) => [file, JSON.parse(readFileSync(join(directory, file), 'utf8')) as Dashboard] as const,
);
const queriesOf = ({ panels }: Dashboard) =>
  panels.flatMap(({ title, targets = [] }) =>
    targets.flatMap(({ expr }) => (expr === undefined ? [] : [[title, expr]])),
  );
const statementsOf = ({ panels, templating }: Dashboard) => [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.flatMap(({ rawSql }) => (rawSql === undefined ? [] : [[title, rawSql] as const])),
  ),
  ...templating.list.flatMap(({ name, query }) => (/^SELECT/.test(query) ? [[name, query] as const] : [])),
];

test('each of the four dashboards has the name of its file', () => {
  expect(dashboards).toHaveLength(4);
  for (const [file, { uid, panels }] of dashboards) {
    expect(file).toBe(`${uid}.json`);
    expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([]);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  }
});

test.each(dashboards)('the dashboard %s uses only existing metrics', (_, dashboard) => {
  for (const [title, query = ''] of queriesOf(dashboard))
    expect([title, findUnknownMetrics(query)]).toEqual([title, []]);
});

test.each(dashboards)(
  'the dashboard %s can select one of several installations, or a single unlabelled installation',
  (_, dashboard) => {
    const queries = queriesOf(dashboard);
    const variables = new Map(dashboard.templating.list.map(({ name, allValue }) => [name, allValue]));
    for (const [title, query = ''] of queries) {
      const selectors = [...query.matchAll(/\b(?:millrace|process|nodejs)_\w+(?:\{([^}]*)\})?/g)];
      expect([title, selectors.length]).not.toEqual([title, 0]);
      for (const label of ['cluster', 'namespace', 'service']) {
        expect([title, selectors.filter(([, chosen = '']) => !chosen.includes(`${label}=~"$${label}"`))]).toEqual([
          title,
          [],
        ]);
        expect(variables.get(label)).toBe('.*');
      }
    }
  },
);

test('Prometheus can parse every dashboard query', async () => {
  const queries = dashboards.flatMap(([, dashboard]) => queriesOf(dashboard));
  expect(queries.length).toBeGreaterThan(50);
  const rules = queries.map(([, query = ''], at) => ({
    record: `panel:${at}`,
    expr: query.replaceAll('$__rate_interval', '5m'),
  }));
  const temporary = mkdtempSync(join(tmpdir(), 'millrace-panels-'));
  try {
    const file = join(temporary, 'rules.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const { status, output } = await runPromtool('check', 'rules', file);
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}, 600_000);

test('every SQL statement of a dashboard runs on the current tables', async () => {
  const { url, drop } = await createTestDatabase();
  const { environmentId } = await createTestTenant(url);
  const database = createDatabase({ url, logger: createLogger('dashboards', 'error'), poolSize: 1 });
  try {
    const statements = dashboards.flatMap(([, dashboard]) => statementsOf(dashboard));
    expect(statements.length).toBeGreaterThan(6);
    for (const [, statement] of statements) {
      const sql = statement
        .replaceAll('$environment', String(environmentId))
        .replaceAll(/\$__timeFilter\((\w+)\)/g, `$1 BETWEEN now() - interval '1 day' AND now()`);
      await expect(database.sql.query(sql)).resolves.toEqual(expect.any(Array));
    }
  } finally {
    await database.stop();
    await drop();
  }
});
