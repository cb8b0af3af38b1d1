// Tests SQL that an attacker might send: strings that try to break out of their quotes, and queries that try to read
// another project.

import { isAppError } from '@millrace/runtime';
import { runQuery } from '../src/index.ts';
import { readProjectSettings } from '../src/records-store.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { runSql, type SqlRequest } from '../src/sql/run.ts';
import { createSqlWorld, type SqlWorld } from './sql-world.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const nastyTexts = [
  "'",
  "''",
  "' OR '1'='1",
  "'; DROP TABLE event; --",
  "') UNION ALL SELECT 1 --",
  '"',
  '"; DELETE FROM person; --',
  '`',
  '\\',
  "\\'",
  "\\\\' OR 1=1 --",
  '$1',
  `$\{1}`,
  '{p1:String}',
  '{filters}',
  '/* comment',
  '*/ 1',
  '-- end',
  '%',
  '_%',
  'a\nb',
  'a\tb',
  '\u2019',
  '\u00ff\u2028',
  '𐐷😀',
  '$$',
  '$tag$ x $tag$',
  "E'\\x27'",
  "U&'\\0027'",
  'c1',
  's1.c1',
  'pg_sleep(10)',
  "file('/etc/passwd')",
];

const trends = (series: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  kind: 'TrendsQuery',
  dateRange: { date_from: '2026-03-01', date_to: '2026-03-31' },
  series: [{ kind: 'EventsNode', ...series }],
  ...more,
});
const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const asName = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

describe.each(engines)('hostile SQL on $name', (engine) => {
  let store: TestStore;
  let own: SqlWorld;
  let other: SqlWorld;
  let parser: SqlParser;
  beforeAll(async () => {
    store = await engine.open();
    [own, other] = [await createSqlWorld(store.database), await createSqlWorld(store.database)];
    await store.events.earliest({ projectId: other.projectId, events: null }, ample());
    parser = createParser();
    // Load the parser in advance, because loading takes seconds on a busy machine.
    await parser.parse('SELECT 1');
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  /** Returns the rows of a query, or the code of its error. */
  async function run(text: string, request: Partial<SqlRequest> = {}): Promise<unknown[][] | string> {
    const { projectId, now } = own;
    const settings = await readProjectSettings(store.database.sql, projectId);
    return runSql(
      { sql: store.database.sql, events: store.events, parser },
      { projectId, settings, now, text, ...request },
      ample(),
    ).then(
      ({ results }) => results,
      (error: unknown) => {
        if (!isAppError(error, 'invalid')) throw error;
        return String(error.code);
      },
    );
  }

  test.each(nastyTexts)('treats %j as a string wherever a query can contain a string', async (text) => {
    const texts = { value: text };
    expect(await run(`SELECT ${quoted(text)} AS a`)).toEqual([[text]]);
    expect(await run('SELECT {value}', { values: texts })).toEqual([[text]]);
    expect(await run('SELECT {variables.value}', { variables: texts })).toEqual([[text]]);
    expect(await run('SELECT count() FROM events WHERE event IN ({value}, {value})', { values: texts })).toEqual([[0]]);
    expect(
      await run('SELECT concat({value}, {value}), length(replaceAll({value}, {value}, {value})) >= 0', {
        values: texts,
      }),
    ).toEqual([[text + text, 1]]);
    expect(await run(`SELECT a.x FROM (SELECT ${quoted(text)} AS x) AS a GROUP BY a.x ORDER BY a.x`)).toEqual([[text]]);
    expect(await run('SELECT arrayJoin([{value}])', { values: texts })).toEqual([[text]]);
    expect(
      await run('SELECT JSONExtractString(properties, {value}) FROM events LIMIT 1', { values: texts }),
    ).toHaveLength(1);
    // The string may be an invalid pattern or an unknown name, but it must not become part of the statement.
    expect(await run('SELECT count() FROM events WHERE event LIKE {value}', { values: texts })).toEqual(
      expect.anything(),
    );
    expect(await run('SELECT match(event, {value}) FROM events LIMIT 1', { values: texts })).toEqual(expect.anything());
    for (const place of [
      'toTimeZone(now(), %)',
      'dateTrunc(%, now())',
      'dateDiff(%, now(), now())',
      'formatDateTime(now(), %)',
      'toStartOfInterval(now(), %)',
      'toDateTime(%)',
    ])
      expect(await run(`SELECT ${place.replace('%', () => quoted(text))} AS a`)).toEqual(expect.anything());
    for (const place of [
      'SELECT 1 AS %',
      'SELECT a.% FROM (SELECT 1 AS %) AS a',
      'SELECT properties.% FROM events LIMIT 1',
      'SELECT person.properties.% FROM events LIMIT 1',
      'WITH x AS (SELECT 1 AS %) SELECT * FROM x',
      'SELECT count() AS % FROM events ORDER BY %',
    ])
      expect(await run(place.replaceAll('%', () => asName(text)))).toEqual(expect.anything());
    // No column, table, function or type has this string as its name.
    for (const place of [
      'SELECT % FROM events',
      'SELECT 1 FROM %',
      'SELECT e.% FROM events AS e',
      'SELECT %(1)',
      'SELECT CAST(1 AS %)',
    ])
      expect(await run(place.replace('%', () => asName(text)))).toMatch(/^hogql_(query|syntax)_error$/);
    expect(await run('SELECT (SELECT count() FROM events) > 0, (SELECT count() FROM persons) > 0')).toEqual([[1, 1]]);
  });

  /** Returns the result of an insight query, or the code of its error. */
  async function runInsight(query: Record<string, unknown>): Promise<unknown> {
    const { projectId, now } = own;
    const deps = { sql: store.database.sql, events: store.events, parser };
    return runQuery(deps, { projectId, query, now }, ample()).then(
      ({ results }) => results,
      (error: unknown) => {
        if (!isAppError(error, 'invalid')) throw error;
        return String(error.code);
      },
    );
  }

  /** Insight queries with an expression in each place that accepts one. */
  const places: [string, (text: string) => Record<string, unknown>, string?][] = [
    ['a filter', (key) => trends({}, { properties: [{ type: 'hogql', key }] })],
    ['a filter of a series', (key) => trends({ properties: [{ type: 'hogql', key }] })],
    ['a breakdown', (breakdown) => trends({}, { breakdownFilter: { breakdown_type: 'hogql', breakdown } })],
    [
      'a listed breakdown',
      (property) => trends({}, { breakdownFilter: { breakdowns: [{ type: 'hogql', property }] } }),
    ],
    ['a measure', (text) => trends({ math: 'hogql', math_hogql: text }), 'countIf(event = %)'],
    [
      'a filter of persons',
      (key) => ({ kind: 'ActorsQuery', properties: [{ type: 'hogql', key }] }),
      'properties.x = %',
    ],
    ['a column of persons', (text) => ({ kind: 'ActorsQuery', select: [text] }), 'concat(%, toString(id))'],
    ['an order of persons', (text) => ({ kind: 'ActorsQuery', orderBy: [text] }), 'concat(%, toString(id))'],
    ['a column', (text) => ({ kind: 'EventsQuery', select: [text], after: 'all', limit: 5 })],
    ['a column of groups', (text) => ({ kind: 'EventsQuery', select: ['count()', text], after: 'all', limit: 5 })],
    ['a condition', (text) => ({ kind: 'EventsQuery', select: ['event'], where: [text], after: 'all' })],
    ['an order', (text) => ({ kind: 'EventsQuery', select: ['event'], orderBy: [text], after: 'all', limit: 5 })],
  ];

  test.each(places)(
    'treats hostile strings only as strings in %s of an insight query',
    async (_, queryOf, expression = 'concat(%, event) = %') => {
      for (const text of nastyTexts) {
        const result = await runInsight(queryOf(expression.replaceAll('%', () => quoted(text))));
        expect([text, result]).toEqual([text, expect.any(Array)]);
        // Used as an entire expression, the string results in an error or a value.
        const whole = await runInsight(queryOf(text));
        expect([
          text,
          Array.isArray(whole) || /^(hogql_(query|syntax)_error|invalid_input)$/.test(String(whole)),
        ]).toEqual([text, true]);
      }
    },
  );

  test.each(nastyTexts)('an EventsQuery returns the string %j unchanged', async (text) => {
    const query = { kind: 'EventsQuery', after: 'all', limit: 1 };
    expect(await runInsight({ ...query, select: [quoted(text)] })).toEqual([[text]]);
    expect(await runInsight({ ...query, select: [`${quoted(text)} AS ${asName(text)}`, 'count()'] })).toEqual(
      expect.anything(),
    );
  });

  test("an expression in an insight query reads only the query's own project", async () => {
    const count = async (where: string) =>
      runInsight({ kind: 'EventsQuery', select: ['count()'], where: [where], after: 'all', before: '2030-01-01' });
    const all = await run('SELECT count() FROM events');
    expect(await count('1 = 1 OR team_id = team_id')).toEqual(all);
    expect(await count(`team_id = ${other.projectId}`)).toEqual([[0]]);
    expect(await count('uuid IN (SELECT uuid FROM events)')).toEqual(all);
    expect(await count(`(SELECT count() FROM events WHERE team_id = ${other.projectId}) > 0`)).toEqual([[0]]);
    expect(await count(`person_id IN COHORT ${firstCohort(other)}`)).toBe('hogql_query_error');
  });

  test.each([
    'SELECT 1; SELECT 2',
    'INSERT INTO events VALUES (1)',
    'DROP TABLE events',
    'DELETE FROM events',
    'SELECT * FROM event',
    'SELECT * FROM public.events',
    'SELECT * FROM pg_catalog.pg_class',
    'SELECT * FROM information_schema.tables',
    'SELECT * FROM system.tables',
    'SELECT * FROM clickhouse.person',
    'SELECT * FROM environment',
    'SELECT * FROM "user"',
    "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
    "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "SELECT * FROM file('/etc/passwd')",
    'SELECT pg_sleep(10)',
    'SELECT sleep(3)',
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT current_setting('data_directory')",
    'SELECT currentUser()',
    'SELECT version()',
    "SELECT dblink('', '')",
    "SELECT getSetting('max_threads')",
    "SELECT dictGet('persons', 'properties', 1)",
    'SELECT * FROM events SETTINGS max_execution_time = 1000',
    "SELECT * FROM events INTO OUTFILE '/tmp/a'",
    'SELECT * FROM events FOR UPDATE',
    'SELECT api_token FROM events',
    'SELECT e.project_id FROM events AS e',
    'SELECT ctid, xmin FROM events',
    'SELECT count() FROM events AS a CROSS JOIN events AS b',
    'SELECT count() FROM events, events AS b',
    'SELECT arrayJoin(range(100000000))',
    "SELECT repeat('x', 1000000000)",
  ])('rejects %s', async (text) => {
    expect(await run(text)).toMatch(/^hogql_(query|syntax)_error$/);
  });

  test('an SQL query reads only its own project, regardless of how it is written', async () => {
    const counts = {
      events: await run('SELECT count() FROM events'),
      persons: await run('SELECT count() FROM persons'),
      ids: await run('SELECT count() FROM person_distinct_ids'),
      groups: await run('SELECT count() FROM groups'),
    };
    const variants: [string, unknown][] = [
      ['SELECT count() FROM events WHERE team_id = team_id OR 1 = 1', counts.events],
      [`SELECT count() FROM events WHERE team_id = ${other.projectId}`, [[0]]],
      ['SELECT count() FROM (SELECT * FROM events) AS a', counts.events],
      ['WITH a AS (SELECT uuid FROM events) SELECT count() FROM a', counts.events],
      ['SELECT count() FROM events AS a INNER JOIN events AS b ON a.uuid = b.uuid', counts.events],
      ['SELECT count() FROM persons AS p LEFT JOIN persons AS q ON p.id = q.id', counts.persons],
      ['SELECT count() FROM persons WHERE id IN (SELECT id FROM persons)', counts.persons],
      ['SELECT sum(n) FROM (SELECT count() AS n FROM events GROUP BY distinct_id)', counts.events],
      ['SELECT count() FROM person_distinct_ids WHERE person.id = person_id', counts.ids],
      ['SELECT count() FROM groups AS g WHERE g.key IN (SELECT key FROM groups)', counts.groups],
      ['SELECT max(n) FROM (SELECT count() OVER () AS n FROM events)', counts.events],
      [
        `SELECT count() FROM cohort_people WHERE cohort_id IN (SELECT cohort_id FROM cohort_people) AND cohort_id >= ${firstCohort(other)}`,
        [[0]],
      ],
    ];
    for (const [text, expected] of variants) expect([text, await run(text)]).toEqual([text, expected]);
    const union = await run('SELECT count() FROM (SELECT uuid FROM events UNION ALL SELECT uuid FROM events)');
    expect(Number((union as number[][])[0]?.[0])).toBe(2 * Number((counts.events as number[][])[0]?.[0]));
    expect(await run(`SELECT count() FROM persons WHERE id IN COHORT ${firstCohort(other)}`)).toBe('hogql_query_error');
  });

  /** The cohorts of the second project were created after those of the first project. */
  const firstCohort = ({ textOf }: SqlWorld) => Number(textOf('__COHORT_A__'));
});
