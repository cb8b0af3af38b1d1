import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@millrace/testing';
import { post } from '../support/post.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { installNpmPackages, installOrNull, installPythonTool } from '../testing/install-tools.ts';
import { createToolEnvironment, startToolProcess, type ToolProcess } from './tool-process.ts';

/** Runs programs that were written for PostHog and send SQL. Each test checks the numbers that a program has read. */
const run = promisify(execFile);
const besideThis = (name: string) => new URL(`./${name}`, import.meta.url);
const [tools, engageable, modules] = await Promise.all([
  installOrNull('phog-cli and arcade-posthog', () =>
    installPythonTool('posthog-tools', besideThis('posthog-tools.txt')),
  ),
  // Do not install the tool's dependencies, because only its statistics use them.
  installOrNull('engageable', () => installPythonTool('engageable', besideThis('engageable.txt'), ['--no-deps'])),
  installOrNull('@posthog/agent-toolkit', () => installNpmPackages('agent-toolkit', ['@posthog/agent-toolkit@0.2.4'])),
]);

const views = 12;
const orders = 5;
const persons = 3;
const query =
  'SELECT event, count() AS n, count(DISTINCT person_id) AS users FROM events GROUP BY event ORDER BY n DESC';
const rows = [
  ['$pageview', views, persons],
  ['order', orders, persons],
];

let services: RunningServices;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-sql-clients-'));
  services = await startServices({ eventLog: 'postgres', settings: { LOG_LEVEL: 'error' } });
  const event = (name: string, index: number) => ({
    ...{
      event: name,
      distinct_id: `person-${index % persons}`,
      timestamp: new Date(Date.now() - 60_000).toISOString(),
    },
    properties: { $current_url: 'https://shop.example/', $browser: 'Firefox', amount: index },
  });
  const batch = [
    ...Array.from({ length: views }, (_, index) => event('$pageview', index)),
    ...Array.from({ length: orders }, (_, index) => event('order', index)),
  ];
  const { status } = await post(`${services.ingestUrl}/batch/`, { api_key: services.tenant.projectApiKey, batch });
  expect(status).toBe(200);
  await eventually(async () => {
    const { rows: stored } = await services.database.query('SELECT count(*)::int AS n FROM event');
    expect(stored).toEqual([{ n: views + orders }]);
  });
}, 300_000);
afterAll(async () => {
  await services?.stop();
  await rm(directory, { recursive: true, force: true });
});

(modules === null ? test.skip : test)("PostHog's agent toolkit runs SQL", async () => {
  const toolkit: ToolProcess = startToolProcess(
    [process.execPath, fileURLToPath(besideThis('call-agent-toolkit.mjs'))],
    {
      ...createToolEnvironment(services, directory),
      TOOLKIT: join(`${modules}`, '@posthog/agent-toolkit/dist/index.mjs'),
    },
  );
  try {
    await toolkit.call('switch-project', { projectId: services.tenant.projectId });
    const source = { kind: 'HogQLQuery', query };
    expect(await toolkit.call('query-run', { query: { kind: 'DataVisualizationNode', source } })).toEqual(rows);
    const filtered = { ...source, query: 'SELECT count() FROM events WHERE {filters}' };
    const filters = { dateRange: { date_from: '-1d' } };
    expect(
      await toolkit.call('query-run', { query: { kind: 'DataVisualizationNode', source: { ...filtered, filters } } }),
    ).toEqual([[views + orders]]);

    const node = { kind: 'DataVisualizationNode', source };
    const { id } = (await toolkit.call('insight-create-from-query', {
      data: { name: 'SQL', query: { ...node, source: { ...source, query: 'SELECT 1' } }, favorited: false },
    })) as { id: number };
    await toolkit.call('insight-update', { insightId: String(id), data: { query: node } });
    expect(await toolkit.call('insight-query', { insightId: String(id) })).toMatchObject({
      insight: { query: node },
      results: rows,
    });
  } finally {
    toolkit.stop();
  }
});

(tools === null ? test.skip : test)('arcade-posthog runs SQL', async () => {
  const arcade = startToolProcess(
    [`${tools}`, '-B', fileURLToPath(besideThis('call_arcade.py'))],
    createToolEnvironment(services, directory),
  );
  try {
    const given = { project_id: String(services.tenant.projectId), query: { kind: 'HogQLQuery', query } };
    for (const one of [given, { ...given, query: { query: given.query } }])
      expect(await arcade.call('run_query', one)).toMatchObject({ response_json: { results: rows } });
  } finally {
    arcade.stop();
  }
});

(tools === null ? test.skip : test)(
  'phog-cli runs SQL, and the SQL of its summary',
  async () => {
    const phog = async (...words: string[]) => {
      const program = ['-c', 'from posthog_cli.main import app; app()', '--json', '--yes', ...words];
      const { stdout } = await run(`${tools}`, program, {
        cwd: directory,
        env: createToolEnvironment(services, directory),
        timeout: 60_000,
      });
      return JSON.parse(stdout) as unknown;
    };
    const json = JSON.stringify({ kind: 'HogQLQuery', query });
    const file = join(directory, 'query.json');
    await writeFile(file, json);
    for (const words of [
      ['--hogql', query],
      ['--query', json],
      ['--from-file', file],
    ])
      expect(await phog('query', 'run', ...words)).toMatchObject({ results: rows });
    const top = { results: rows.map(([event, count]) => [event, count]) };
    expect(await phog('activity', 'events', '--date-from', '-7d')).toMatchObject(top);
    expect(await phog('activity', 'summary', '--date-from', '-7d')).toMatchObject({
      pageview_total: [[views, persons]],
      top_events: top.results,
      custom_events: [['order', orders, persons]],
      top_pages: [['https://shop.example/', views]],
      browsers: [['Firefox', persons]],
      traffic_sources: [],
      wau: [[expect.any(String), persons]],
      weekly_custom_trends: [[expect.any(String), 'order', orders]],
    });
  },
  120_000,
);

(engageable === null ? test.skip : test)(
  'engageable runs SQL',
  async () => {
    const program = `
import asyncio, json, os
from engageable.skills.connectors.posthog import PostHogProbeSkill, PostHogQuerySkill
credentials = {"api_key": os.environ["POSTHOG_API_KEY"], "base_url": os.environ["POSTHOG_HOST"]}
async def main():
    common = {"project_id": int(os.environ["POSTHOG_PROJECT_ID"]), "credentials": credentials}
    query = await PostHogQuerySkill().execute({**common, "query": os.environ["QUERY"], "date_from": "-7d"})
    probe = await PostHogProbeSkill().execute(common)
    print(json.dumps([query.data, probe.data]))
asyncio.run(main())`;
    const env = { ...createToolEnvironment(services, directory), QUERY: query };
    const { stdout } = await run(`${engageable}`, ['-c', program], { cwd: directory, env, timeout: 60_000 });
    expect(JSON.parse(stdout)).toMatchObject([
      { columns: ['event', 'n', 'users'], rows },
      { has_data: true, event_count_30d: views + orders, distinct_persons_30d: persons },
    ]);
  },
  120_000,
);
