import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { type RunningServices, startRunningServices } from '../testing/running-services.ts';

let services: RunningServices;
beforeAll(async () => {
  services = await startRunningServices();
});
afterAll(() => services?.stop());

const run = (...args: string[]) => services.run(args);
const result = (...args: string[]) => services.runJson(...args);

test('counts events, lists property values, group members and related persons, and counts warnings by type', async () => {
  await services.capture('ordered', 'ada', { currency: 'EUR', $groups: { company: 'acme' } });
  await services.capture('$create_alias', 'ada', { alias: 'null' });
  await eventually(async () => (await result('events', 'counts', '--event', 'ordered')).total === 1);
  expect((await run('events', 'counts', '--event', 'ordered', '--interval', 'day')).out).toMatch(/^start +count$/m);
  expect(await result('events', 'values', '--property', 'currency', '--contains', 'eu')).toEqual([{ name: 'EUR' }]);
  const members = await result('groups', 'members', '--type-index', '0', '--key', 'acme');
  expect(members.results).toMatchObject([{ distinct_ids: ['ada'] }]);
  const related = await result('groups', 'related', '--type-index', '0', '--id', 'acme');
  expect(related).toMatchObject([{ type: 'person', distinct_ids: ['ada'] }]);
  const kind = 'cannot_merge_with_illegal_distinct_id';
  await eventually(async () =>
    expect((await run('warnings', 'counts')).out).toMatch(new RegExp(`^${kind} +\\w+ +1 `, 'm')),
  );
  expect((await result('warnings', 'counts', '--type', 'no_such_kind')).results).toEqual([]);
});

test("creates an annotation for a release, and lists a project's annotations", async () => {
  const created = await result('annotations', 'create', 'Release 2.0', '--at', '2026-11-20T09:00:00Z');
  expect(created).toEqual({
    ...{ id: expect.any(Number), date_marker: '2026-11-20T09:00:00Z', scope: 'project' },
    ...{ creation_type: 'GIT', content: 'Release 2.0' },
  });
  expect((await run('annotations', 'create', 'For all', '--organization')).out).toMatch(/^scope +organization$/m);
  expect((await run('annotations', 'list')).out).toMatch(/^\d+ +2026-11-20T09:00:00Z +project +GIT +Release 2.0$/m);
  const refused = await run('annotations', 'create', 'x', '--at', 'tomorrow');
  expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('date_marker')]);
});

test('runs a query from a file and a saved insight, and prints the result as a table, CSV or JSON', async () => {
  await services.capture('signed up', 'bob');
  await services.capture('signed up', 'cid');
  const query = {
    ...{ kind: 'TrendsQuery', dateRange: { date_from: '-1h' }, trendsFilter: { display: 'BoldNumber' } },
    series: [{ kind: 'EventsNode', event: 'signed up' }],
  };
  const directory = mkdtempSync(join(tmpdir(), 'millrace-query-'));
  try {
    const file = join(directory, 'query.json');
    writeFileSync(file, JSON.stringify(query));
    await eventually(async () => expect((await run('query', file, '--new')).out).toMatch(/^signed up +2$/m));
    expect((await run('query', file, '--csv')).out).toBe('series,value\r\nsigned up,2\r\n');
    expect(await result('query', file)).toMatchObject({ is_cached: true, results: [{ aggregated_value: 2 }] });
    const { projectId, personalApiKey } = services.tenant;
    const made = await fetch(`${services.apiUrl}/api/projects/${projectId}/insights/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${personalApiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Sign-ups', query }),
    });
    const { short_id: id } = (await made.json()) as { short_id: string };
    expect((await run('insights', 'run', id)).out).toMatch(/^series +value\nsigned up +2\n$/);
    writeFileSync(file, JSON.stringify({ ...query, interval: 'fortnight' }));
    const wrong = await run('query', file);
    expect([wrong.exitCode, wrong.err]).toEqual([1, expect.stringContaining('interval: ')]);
    writeFileSync(file, '{');
    const broken = await run('query', file);
    expect([broken.exitCode, broken.err]).toEqual([2, expect.stringContaining(`${file} is not valid JSON`)]);
    expect((await run('query', join(directory, 'none.json'))).err).toContain('Could not read');
    expect((await run('insights', 'run', 'nobody12')).err).toContain('404');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('runs an SQL query from an argument, a file or standard input, and prints the result as a table, CSV or JSON', async () => {
  await services.capture('bought', 'dan', { note: '=1+1' });
  const query =
    "SELECT event, properties.note AS note, count() AS n FROM events WHERE event = 'bought' GROUP BY event, note";
  await eventually(async () =>
    expect((await run('sql', query, '--new')).out).toMatch(/^event +note +n\nbought +=1\+1 +1\n$/),
  );
  expect((await run('sql', query, '--csv')).out).toBe('event,note,n\r\nbought,"\'=1+1",1\r\n');
  expect(await result('sql', query)).toMatchObject({
    columns: ['event', 'note', 'n'],
    results: [['bought', '=1+1', 1]],
  });
  const directory = mkdtempSync(join(tmpdir(), 'millrace-sql-'));
  try {
    const file = join(directory, 'query.sql');
    writeFileSync(file, `-- Orders\n${query};\n`);
    expect((await run('sql', '--file', file, '--csv')).out).toContain('bought');
    expect((await services.run(['sql', '-'], { input: 'SELECT 1 AS one' })).out).toBe('one\n1\n');
    expect(await run('sql', '--file', join(directory, 'none.sql'))).toMatchObject({
      ...{ exitCode: 2, err: expect.stringContaining('Could not read') },
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
  expect(await run('sql', 'SELECT arrayJoin(range(101)) AS n')).toMatchObject({
    ...{ exitCode: 0, err: 'Only the first 100 rows are shown. Add a LIMIT to the query to get more.\n' },
  });
  expect(await run('sql', 'SELECT evnt FROM events')).toMatchObject({
    ...{ exitCode: 1, out: '', err: expect.stringContaining('Unable to resolve field: evnt') },
  });
  expect(await run('sql')).toMatchObject({ exitCode: 2, err: expect.stringContaining('Pass the text of a query') });
});

test("lists an organization's activity with the author of each change", async () => {
  await result('flags', 'create', 'new-checkout');
  const { out } = await run(
    'org',
    'activity',
    '--organization',
    services.tenant.organizationId,
    '--scope',
    'FeatureFlag',
  );
  expect(out).toMatch(/^at +by +activity +scope +name +item id +fields$/m);
  expect(out).toMatch(/ created +FeatureFlag +new-checkout /);
});

test.each([
  ['a missing property', ['events', 'values'], 2, "required option '--property <name>'"],
  ['an invalid interval', ['events', 'counts', '--interval', 'year'], 1, 'interval'],
  [
    'an inaccessible organization',
    ['org', 'activity', '--organization', '00000000-0000-0000-0000-000000000000'],
    1,
    '404',
  ],
])('rejects %s with an error that names it', async (_, args, exitCode, message) => {
  expect(await run(...args)).toMatchObject({ exitCode, err: expect.stringContaining(message) });
});
