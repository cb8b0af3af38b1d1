import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { installNpmPackages, installOrNull, installPythonTool } from '../testing/install-tools.ts';
import { expected, purchaseQuery, type SeededProject, seeded, seedProject } from './seed.ts';
import { createToolEnvironment, startToolProcess, type ToolProcess } from './tool-process.ts';

/**
 * Runs programs that were written for PostHog's API. The programs read and change a project, and each test checks the
 * data that a program has read.
 */
const run = promisify(execFile);
const besideThis = (name: string) => new URL(`./${name}`, import.meta.url);
const [airbyte, tools, modules] = await Promise.all([
  installOrNull('airbyte-source-posthog', () =>
    installPythonTool('airbyte-source-posthog', besideThis('airbyte-source-posthog.txt')),
  ),
  installOrNull('phog-cli and arcade-posthog', () =>
    installPythonTool('posthog-tools', besideThis('posthog-tools.txt')),
  ),
  installOrNull('@posthog/agent-toolkit', () => installNpmPackages('agent-toolkit', ['@posthog/agent-toolkit@0.2.4'])),
]);

let services: RunningServices;
let project: SeededProject;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-clients-'));
  services = await startServices({ eventLog: 'postgres', settings: { LOG_LEVEL: 'error' } });
  project = await seedProject(services);
}, 300_000);
afterAll(async () => {
  await services?.stop();
  await rm(directory, { recursive: true, force: true });
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const newestFirst = (ids: readonly number[]) => [...ids].reverse();

(airbyte === null ? describe.skip : describe)("Airbyte's connector", () => {
  const streams = [
    ...(['projects', 'events', 'persons', 'cohorts', 'feature_flags', 'insights', 'annotations'] as const),
  ];
  type Message = { type: string; record?: { stream: string; data: { id: string | number } }; trace?: object };

  test('Airbyte reads every record of every stream exactly once', async () => {
    const config = join(directory, 'config.json');
    const catalog = join(directory, 'catalog.json');
    const { apiUrl, tenant } = services;
    const startDate = `${new Date(Date.now() - 70 * 86_400_000).toISOString().slice(0, 19)}Z`;
    await writeFile(
      config,
      JSON.stringify({ api_key: tenant.personalApiKey, base_url: apiUrl, start_date: startDate }),
      { mode: 0o600 },
    );
    await writeFile(
      catalog,
      JSON.stringify({
        streams: streams.map((name) => ({
          stream: { name, json_schema: {}, supported_sync_modes: ['full_refresh', 'incremental'] },
          sync_mode: name === 'events' ? 'incremental' : 'full_refresh',
          destination_sync_mode: 'append',
        })),
      }),
    );
    const { stdout } = await run(
      `${airbyte}`,
      ['-c', 'from source_posthog.run import run; run()', 'read', '--config', config, '--catalog', catalog],
      { cwd: directory, env: createToolEnvironment(services, directory), timeout: 170_000, maxBuffer: 64 << 20 },
    );
    const messages: Message[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(JSON.stringify(messages).match(/"(ERROR|INCOMPLETE)"/)).toBeNull();
    const read = new Map<string, (string | number)[]>(streams.map((name) => [name, []]));
    for (const { record } of messages) if (record) read.get(record.stream)?.push(record.data.id);
    expect([...read].map(([name, ids]) => [name, ids.length, new Set(ids).size])).toEqual(
      streams.map((name) => (name === 'projects' ? [name, 1, 1] : [name, seeded[name], seeded[name]])),
    );
    expect(read.get('events')?.sort()).toEqual([...project.eventUuids].sort());
    for (const list of ['cohorts', 'feature_flags', 'insights', 'annotations'] as const) {
      expect(new Set(read.get(list))).toEqual(new Set(project.ids[list]));
    }
  }, 200_000);
});

(modules === null ? describe.skip : describe)("PostHog's agent toolkit", () => {
  let toolkit: ToolProcess;
  beforeAll(() => {
    toolkit = startToolProcess([process.execPath, fileURLToPath(besideThis('call-agent-toolkit.mjs'))], {
      ...createToolEnvironment(services, directory),
      TOOLKIT: join(`${modules}`, '@posthog/agent-toolkit/dist/index.mjs'),
    });
  });
  afterAll(() => toolkit?.stop());
  type Named = { name: string };
  const names = (list: unknown) => (list as Named[]).map(({ name }) => name);

  test('the agent toolkit finds the organization and the project', async () => {
    const { organizationId, projectId } = services.tenant;
    expect(await toolkit.call('organizations-get')).toEqual([{ id: organizationId, name: 'Test organization' }]);
    expect(await toolkit.call('organization-details-get')).toMatchObject({ id: organizationId });
    expect(await toolkit.call('switch-organization', { orgId: organizationId })).toContain(organizationId);
    expect(await toolkit.call('projects-get')).toMatchObject([{ id: projectId, name: 'Test project' }]);
    expect(await toolkit.call('switch-project', { projectId })).toContain(String(projectId));
  });

  test('the agent toolkit finds events and their properties', async () => {
    const all = ['$ai_generation', '$groupidentify', '$pageview', 'purchase'];
    expect(names(await toolkit.call('event-definitions-list')).sort()).toEqual(all);
    expect(names(await toolkit.call('event-definitions-list', { q: 'purch' }))).toEqual(['purchase']);
    const ofPurchases = { type: 'event', eventName: 'purchase' };
    expect(names(await toolkit.call('properties-list', ofPurchases))).toEqual(['index', 'price', 'text']);
    const withCore = { ...ofPurchases, includePredefinedProperties: true };
    expect(names(await toolkit.call('properties-list', withCore))).toEqual(['$ip', 'index', 'price', 'text']);
    expect(names(await toolkit.call('properties-list', { type: 'person' }))).toEqual(['email']);
  });

  test('the agent toolkit lists and changes feature flags', async () => {
    const flags = (await toolkit.call('feature-flag-get-all')) as { id: number }[];
    expect(flags.map(({ id }) => id)).toEqual(newestFirst(project.ids.feature_flags));
    expect(await toolkit.call('feature-flag-get-definition', { flagKey: 'flag-7' })).toMatchObject({
      id: project.ids.feature_flags[7],
      filters: { groups: [{ rollout_percentage: 7 }] },
    });
    const created = await toolkit.call('create-feature-flag', {
      key: 'toolkit',
      name: 'Toolkit',
      description: 'By the toolkit',
      active: true,
      filters: { groups: [{ properties: [], rollout_percentage: 40 }] },
    });
    expect(created).toMatchObject({ key: 'toolkit', active: true });
    const change = { flagKey: 'toolkit', data: { active: false } };
    expect(await toolkit.call('update-feature-flag', change)).toMatchObject({ key: 'toolkit', active: false });
    expect(await toolkit.call('delete-feature-flag', { flagKey: 'toolkit' })).toMatchObject({ success: true });
    expect(await toolkit.call('feature-flag-get-all')).toHaveLength(seeded.feature_flags);
  });

  test('the agent toolkit lists, changes and computes insights and dashboards', async () => {
    expect(await toolkit.call('insights-get-all', { data: { limit: 100 } })).toHaveLength(100);
    expect(await toolkit.call('insights-get-all', { data: { limit: 100, offset: 100 } })).toHaveLength(5);
    expect(await toolkit.call('insights-get-all', { data: { search: 'Insight 10' } })).toHaveLength(6);
    expect(await toolkit.call('dashboards-get-all')).toHaveLength(seeded.dashboards);

    const insight = (await toolkit.call('insight-create-from-query', {
      data: { name: 'Toolkit', query: purchaseQuery, favorited: true },
    })) as { id: number; short_id: string };
    const insightId = String(insight.id);
    const changes = { name: 'Renamed', query: purchaseQuery };
    expect(await toolkit.call('insight-update', { insightId, data: changes })).toMatchObject({ name: 'Renamed' });
    for (const id of [insightId, insight.short_id]) {
      expect(await toolkit.call('insight-get', { insightId: id })).toMatchObject({ id: insight.id, name: 'Renamed' });
    }
    const count = expected.recentCount('purchase');
    expect(await toolkit.call('insight-query', { insightId })).toMatchObject({ results: [{ count }] });

    const created = { data: { name: 'Toolkit', description: 'By the toolkit', pinned: true, tags: ['toolkit'] } };
    const { id: dashboardId } = (await toolkit.call('dashboard-create', created)) as { id: number };
    await toolkit.call('dashboard-update', { dashboardId, data: { name: 'Renamed' } });
    await toolkit.call('add-insight-to-dashboard', { data: { insightId, dashboardId } });
    expect(await toolkit.call('dashboard-get', { dashboardId })).toMatchObject({
      name: 'Renamed',
      tiles: [{ insight: { short_id: insight.short_id } }],
    });
    expect(await toolkit.call('dashboard-delete', { dashboardId })).toMatchObject({ success: true });
    expect(await toolkit.call('insight-delete', { insightId })).toMatchObject({ success: true });
    expect(await toolkit.call('dashboards-get-all')).toHaveLength(seeded.dashboards);
  });

  test('the agent toolkit runs queries and prints their results', async () => {
    const series = (event: string) => ({ kind: 'EventsNode', event, custom_name: event });
    const dateRange = { date_from: '-30d', date_to: null };
    const trends = await toolkit.call('query-run', { query: purchaseQuery });
    expect(trends).toMatchObject([{ count: expected.recentCount('purchase') }]);
    const source = { kind: 'FunnelsQuery', dateRange, series: [series('$pageview'), series('purchase')] };
    expect(await toolkit.call('query-run', { query: { kind: 'InsightVizNode', source } })).toMatchObject([
      { count: expected.persons('$pageview') },
      { count: expected.recentConversions('$pageview', 'purchase') },
    ]);
    const { projectId } = services.tenant;
    expect(await toolkit.call('get-llm-total-costs-for-project', { projectId, days: 30 })).toMatchObject([
      { label: 'model-1', count: expected.recentCount('$ai_generation') / 2 },
    ]);
  });
});

(tools === null ? describe.skip : describe)('arcade-posthog', () => {
  let arcade: ToolProcess;
  beforeAll(() => {
    arcade = startToolProcess(
      [`${tools}`, '-B', fileURLToPath(besideThis('call_arcade.py'))],
      createToolEnvironment(services, directory),
    );
  });
  afterAll(() => arcade?.stop());
  const call = <T>(name: string, given: object = {}) =>
    arcade.call(name, { project_id: String(services.tenant.projectId), ...given }) as Promise<T>;
  type Page = { total_count: number; count: number; results: { id: number; name: string }[] };
  type Resource = { response_json: { id: number } };

  test('arcade-posthog reads all pages of every list', async () => {
    expect(await arcade.call('who_am_i')).toMatchObject({
      organizations: [{ id: services.tenant.organizationId }],
      projects: [{ id: String(services.tenant.projectId) }],
      missing_scopes: [],
    });
    for (const [tool, list] of [
      ['list_feature_flags', 'feature_flags'],
      ['list_insights', 'insights'],
      ['list_dashboards', 'dashboards'],
    ] as const) {
      const pages = [await call<Page>(tool), await call<Page>(tool, { offset: 100 })];
      expect(pages.map(({ total_count }) => total_count)).toEqual([seeded[list], seeded[list]]);
      const ids = pages.flatMap(({ results }) => results.map(({ id }) => id));
      expect(new Set(ids)).toEqual(new Set(project.ids[list]));
      expect(ids).toHaveLength(seeded[list]);
    }
    const names = async (tool: string, given?: object) =>
      (await call<Page>(tool, given)).results.map(({ name }) => name);
    expect(await names('list_event_definitions', { search: 'purch' })).toEqual(['purchase']);
    const ofPurchases = { event_name: 'purchase', property_type: 'event' };
    expect(await names('list_properties', ofPurchases)).toEqual(['$ip', 'index', 'price', 'text']);
    expect(await names('list_properties', { property_type: 'person' })).toContain('email');
    expect(await names('list_dashboards', { search: 'Dashboard 1', pinned: false })).toHaveLength(3);
  });

  test('arcade-posthog finds records by name, and changes them', async () => {
    const [flag, insight, dashboard] = [7, 17, 8];
    expect(await call('get_feature_flag', { flag_key: `flag-${flag}` })).toMatchObject({
      response_json: { id: project.ids.feature_flags[flag] },
    });
    expect(await call('get_insight', { insight_name: `insight ${insight}` })).toMatchObject({
      response_json: { id: project.ids.insights[insight], result: [{ count: expected.recentCount('purchase') }] },
    });
    expect(await call('get_dashboard', { dashboard_name: `dashboard ${dashboard}` })).toMatchObject({
      response_json: { id: project.ids.dashboards[dashboard], tiles: [] },
    });

    const filters = { groups: [{ rollout_percentage: 20, properties: [] }] };
    await call('create_feature_flag', { key: 'arcade', name: 'Arcade', description: 'By Arcade', filters });
    const changed = await call('update_feature_flag', { flag_key: 'arcade', active: false });
    expect(changed).toMatchObject({ response_json: { key: 'arcade', active: false } });
    await call('delete_feature_flag', { flag_key: 'arcade' });

    const made = await call<Resource>('create_dashboard', { name: 'Arcade', tags: ['arcade'], pinned: true });
    const dashboardId = made.response_json.id;
    const insightId = project.ids.insights[insight];
    await call('add_insight_to_dashboard', { insight_id: insightId, dashboard_id: dashboardId });
    await call('update_dashboard', { dashboard_id: dashboardId, name: 'Renamed', pinned: false });
    expect(await call('get_dashboard', { dashboard_id: dashboardId })).toMatchObject({
      response_json: { name: 'Renamed', tags: ['arcade'], tiles: [{ insight_id: insightId }] },
    });
    await call('delete_dashboard', { dashboard_id: dashboardId });
    const renamed = { insight_id: insightId, name: 'Renamed', description: 'By Arcade' };
    expect(await call('update_insight', renamed)).toMatchObject({ response_json: { name: 'Renamed' } });
    await call('update_insight', { insight_id: insightId, name: `Insight ${insight}` });
    expect(await call<Page>('list_dashboards')).toMatchObject({ total_count: seeded.dashboards });
    // The tool does not send a query, and Millrace cannot compute an insight without one.
    const withoutQuery = call('create_insight_from_query', { query_id: 'cache_1', name: 'Arcade' });
    await expect(withoutQuery).rejects.toThrow('PostHog API error (400)');
  });

  test('arcade-posthog computes trends, funnels and retention', async () => {
    type Trend = { series: { label: string; count: number; data: number[]; breakdown_value: string }[] };
    const trend = async (tool: string, given: object) =>
      (await call<Trend>(tool, given)).series.map(({ label, count }) => [label, count]);
    const all = expected.count('purchase');
    const recent = expected.recentCount('purchase');
    expect(await trend('get_trend', { event: 'purchase', date_from: '-8w' })).toEqual([['purchase', all]]);
    const events = ['purchase', '$pageview', 'missing'];
    expect(await trend('get_trends', { events, date_from: '-30d', time_grouping: 'day' })).toEqual([
      ['purchase', recent],
      ['$pageview', expected.recentCount('$pageview')],
      ['missing', 0],
    ]);
    const broken = await call<Trend>('get_trend', { event: '$pageview', breakdown_property: '$current_url' });
    expect(broken.series).toHaveLength(6);
    expect(sum(broken.series.map(({ count }) => count))).toBe(expected.count('$pageview'));
    const onePerson = [{ key: 'email', value: ['person-5@shop.example'], operator: 'exact', type: 'person' }];
    const ofOne = await trend('get_trend', { event: '$pageview', property_filters: onePerson });
    expect(ofOne).toEqual([['$pageview', 9]]);
    expect(await trend('compare_periods', { event: 'purchase', current_date_from: '-30d' })).toEqual([
      ['purchase', recent],
      ['purchase', all - recent],
    ]);

    const steps = ['$pageview', 'purchase'];
    expect(await call('get_funnel', { steps, date_from: '-30d' })).toMatchObject({
      steps: [{ count: expected.persons('$pageview') }, { count: expected.recentConversions('$pageview', 'purchase') }],
    });
    type Retention = { cohorts: { people_count: number }[] };
    const retention = { start_event: '$pageview', date_from: '-8w', total_intervals: 9 };
    const { cohorts } = await call<Retention>('get_retention', retention);
    expect(sum(cohorts.map(({ people_count }) => people_count))).toBe(expected.persons('$pageview'));
    const query = purchaseQuery;
    expect(await call('run_query', { query })).toMatchObject({ response_json: { results: [{ count: recent }] } });
  });
});

(tools === null ? describe.skip : describe)('phog-cli', () => {
  /** @returns the command's output @throws Error with the command's error output */
  async function phog<T>(...words: string[]): Promise<T> {
    const program = ['-c', 'from posthog_cli.main import app; app()', '--json', '--yes'];
    const options = {
      cwd: directory,
      env: createToolEnvironment(services, directory),
      timeout: 60_000,
      maxBuffer: 64 << 20,
    };
    const { stdout } = await run(`${tools}`, [...program, ...words], options);
    return (stdout === '' ? null : JSON.parse(stdout)) as T;
  }
  type Row = { id: number; name: string };
  const listed = async (...words: string[]) => (await phog<Row[]>(...words)).length;

  test('phog-cli reads every list', async () => {
    const { organizationId, projectId } = services.tenant;
    expect(await phog('org', 'list')).toMatchObject([{ id: organizationId }]);
    expect(await phog('org', 'get', organizationId)).toMatchObject({ id: organizationId, slug: 'test-organization' });
    expect(await phog('project', 'list')).toMatchObject([{ id: projectId }]);
    expect(await phog('project', 'current')).toMatchObject({ id: projectId });
    await phog('project', 'switch', String(projectId));

    expect(await listed('flag', 'list')).toBe(100);
    expect(await listed('flag', 'list', '--limit', '1000')).toBe(seeded.feature_flags);
    expect(await listed('flag', 'list', '--search', 'flag-12', '--active')).toBe(11);
    expect(await listed('flag', 'list', '--inactive')).toBe(0);
    expect(await listed('insight', 'list', '--limit', '1000')).toBe(seeded.insights);
    expect(await listed('insight', 'list', '--search', 'Insight 10')).toBe(6);
    expect(await listed('insight', 'list', '--favorited')).toBe(0);
    expect(await listed('dashboard', 'list')).toBe(seeded.dashboards);
    expect(await listed('dashboard', 'list', '--pinned')).toBe(0);
    expect(await listed('dashboard', 'list', '--search', 'Dashboard 1')).toBe(3);
    expect(await listed('search', 'persons', 'person-1', '--limit', '1000')).toBe(111);
    expect(await listed('search', 'groups', 'company-')).toBe(expected.count('$groupidentify'));
    const names = async (...words: string[]) => (await phog<Row[]>('search', ...words)).map(({ name }) => name);
    expect(await names('events', '--search', 'purch')).toEqual(['purchase']);
    const properties = await names('properties', '--event', 'purchase');
    expect(properties).toEqual(expect.arrayContaining(['index', 'price']));
  }, 120_000);

  test('phog-cli computes activity and insights', async () => {
    type Trend = { results: { count: number; data: number[] }[] };
    const pageviews = await phog<Trend>('activity', 'pageviews', '--date-from', '-30d');
    expect(sum(pageviews.results[0]?.data ?? [])).toBe(expected.recentCount('$pageview'));
    const monthly = await phog<Trend>('activity', 'users', '--period', 'monthly');
    expect(monthly.results[0]?.data.at(-1)).toBe(expected.personsOfMonth('$pageview'));
    const recent = { results: [{ count: expected.recentCount('purchase') }] };
    expect(await phog('query', 'run', '--query', JSON.stringify(purchaseQuery))).toMatchObject(recent);
    expect(await phog('insight', 'query', String(project.ids.insights[0]))).toMatchObject(recent);
  }, 60_000);

  test('phog-cli changes flags, insights, dashboards and annotations', async () => {
    const created = await phog<Row>('flag', 'create', '--key', 'phog', '--name', 'Phog', '--rollout-percentage', '30');
    const flag = String(created.id);
    const groups = [{ rollout_percentage: 60 }];
    expect(await phog('flag', 'update', flag, '--rollout-percentage', '60')).toMatchObject({ filters: { groups } });
    await phog('flag', 'update', flag, '--no-active');
    expect(await phog('flag', 'get', flag)).toMatchObject({ key: 'phog', active: false, filters: { groups } });

    const query = JSON.stringify(purchaseQuery);
    const insight = await phog<Row>('insight', 'create', '--name', 'Phog', '--tags', 'a,b', '--query-json', query);
    await phog('insight', 'update', String(insight.id), '--name', 'Renamed', '--favorited');
    expect(await phog('insight', 'get', String(insight.id))).toMatchObject({ name: 'Renamed', tags: ['a', 'b'] });
    const dashboard = await phog<Row>('dashboard', 'create', '--name', 'Phog', '--tags', 'a', '--pinned');
    await phog('dashboard', 'update', String(dashboard.id), '--name', 'Renamed');
    expect(await phog('dashboard', 'get', String(dashboard.id))).toMatchObject({ name: 'Renamed', pinned: true });
    const annotation = await phog<Row>('api', 'post', '/annotations/', '-d', '{"content":"Phog"}');
    const path = `/annotations/${annotation.id}/`;
    expect(await phog('api', 'patch', path, '-d', '{"deleted":true}')).toMatchObject({ deleted: true });

    // Delete by PATCH, because Millrace, like PostHog, responds to DELETE with 405.
    for (const [kind, id] of [
      ['flag', flag],
      ['insight', insight.id],
      ['dashboard', dashboard.id],
    ]) {
      await expect(phog(`${kind}`, 'delete', `${id}`)).rejects.toThrow('API error 405');
      await phog('api', 'patch', `/${kind === 'flag' ? 'feature_flag' : kind}s/${id}/`, '-d', '{"deleted":true}');
    }
    expect(await listed('flag', 'list', '--limit', '1000')).toBe(seeded.feature_flags);
  }, 120_000);
});
