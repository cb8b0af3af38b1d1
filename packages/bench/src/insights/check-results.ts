// Compares the API's results with expected results, which are computed from the rules that generated the events, and
// not from ClickHouse's tables.

import type { ClickHouseClient } from '@millrace/insights';
import type { Print } from '../harness/command.ts';
import {
  type ApiRequest,
  buildQueryRequest,
  byPersonPlan,
  byPlan,
  listedPerson,
  listedPersonUuid,
  personSearch,
  personTimeline,
  type Send,
  weekly,
} from './api-requests.ts';
import {
  buildGeneratedEventsSql,
  buildPlanExpression,
  buildUuidExpression,
  type GeneratedEvents,
} from './generated-events.ts';
import { daily, uniques } from './queries.ts';

interface Checked extends ApiRequest {
  /** SQL that computes the expected result. */
  expected: string;
  pick: (results: Row[]) => unknown;
}

interface Row {
  uuid: string;
  data: number[];
  count: number;
  breakdown_value: string;
}

const dayMs = 86_400_000;
const day = `intDiv(ms, ${dayMs})`;
const seriesOf = ([series]: Row[]) => series?.data;
const valuesOf = (rows: Row[]) => rows.map((row) => [row.breakdown_value, row.count]).sort();
const uuidsOf = (rows: Row[]) => rows.map(({ uuid }) => uuid);

function listChecks(size: GeneratedEvents): readonly Checked[] {
  const firstDay = Math.floor(Date.now() / dayMs) - 30;
  const generated = buildGeneratedEventsSql(size, '*');
  const views = (from: number) => `(${generated}) WHERE event = '$pageview' AND ${day} >= ${from}`;
  const byDay = (number: string) =>
    `SELECT groupArray(total) FROM (SELECT ${number} AS total FROM ${views(firstDay)} GROUP BY ${day} ORDER BY ${day})`;
  const byValue = (value: string) =>
    `SELECT groupArray([value, total]) FROM (SELECT ${value} AS value, toString(count()) AS total FROM ${views(firstDay)}
      GROUP BY value ORDER BY value)`;
  const inWeek = `SELECT groupArray(total) FROM (SELECT uniqExact(owner) AS total
      FROM (SELECT owner, arrayJoin(range(${day}, ${day} + 7)) AS last_day FROM ${views(firstDay - 6)})
     WHERE last_day BETWEEN ${firstDay} AND ${firstDay + 30} GROUP BY last_day ORDER BY last_day)`;
  const timeline = `SELECT groupArray(uuid) FROM (SELECT ${buildUuidExpression('number')} AS uuid FROM (${generated})
     WHERE owner = ${listedPerson} ORDER BY ms DESC LIMIT 100)`;
  return [
    { name: 'daily page views', ...buildQueryRequest(daily), expected: byDay('count()'), pick: seriesOf },
    { name: 'daily uniques', ...buildQueryRequest(uniques), expected: byDay('uniqExact(owner)'), pick: seriesOf },
    { name: 'weekly actives', ...buildQueryRequest(weekly), expected: inWeek, pick: seriesOf },
    {
      name: 'total by an unusual property',
      ...buildQueryRequest(byPlan),
      expected: byValue(buildPlanExpression('number')),
      pick: valuesOf,
    },
    {
      name: 'total by a person property',
      ...buildQueryRequest(byPersonPlan),
      expected: byValue(buildPlanExpression('owner')),
      pick: valuesOf,
    },
    { name: 'person timeline', path: personTimeline, expected: timeline, pick: uuidsOf },
    { name: 'person search by email', path: personSearch, expected: `SELECT ['${listedPersonUuid}']`, pick: uuidsOf },
  ];
}

/**
 * Compares results and prints their number. Ignores queries that exceed their time limit, because the machine may be
 * busy.
 * @throws Error if a result is wrong
 */
export async function checkResults(
  client: ClickHouseClient,
  size: GeneratedEvents,
  { send, print }: { send: Send; print: Print },
): Promise<void> {
  let correct = 0;
  for (const { name, expected, pick, ...request } of listChecks(size)) {
    const { status, body } = await send({ name, ...request });
    const content = JSON.parse(body);
    if (content.code === 'query_timeout') {
      print(`not checked, because the query exceeds its time limit: ${name}`);
      continue;
    }
    const rows = await (await client.query({ query: expected, format: 'JSONCompactEachRow' })).json<[unknown[]]>();
    const wanted = JSON.stringify(rows[0]?.[0]).replaceAll('"', '');
    const found = JSON.stringify(status === 200 ? pick(content.results) : body).replaceAll('"', '');
    if (found !== wanted) throw new Error(`Wrong result of ${JSON.stringify(request)}: ${found}, expected ${wanted}`);
    correct += 1;
  }
  print(`${correct} results are those of the generated events`);
}
