// Local times of events near the changes of a time zone's UTC offset.

import { createTimeZone, listOffsetSpans } from '@millrace/schedule';
import { createTestTenant } from '@millrace/testing';
import type { ProjectSettings } from '../src/index.ts';
import { readProjectSettings } from '../src/records-store.ts';
import { createParser, type SqlParser } from '../src/sql/parse.ts';
import { runSql } from '../src/sql/run.ts';
import { ample, engines, type TestStore } from './test-store.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const zones = ['UTC', 'Europe/Berlin', 'Africa/Cairo', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/New_York'];
const year = new Date().getUTCFullYear();

/** Times in this year and ten years ago, near the changes of the time zone's UTC offset. */
const times = zones.flatMap((zone) =>
  [year, year - 10].flatMap((one) =>
    listOffsetSpans(zone, { from: Date.UTC(one, 0, 1), to: Date.UTC(one + 1, 0, 1) }).flatMap(({ from }) =>
      [-day, -hour, -1, 0, 1, 45 * minute, 3 * hour, 23 * hour, 30 * hour].map((shift) => from + shift),
    ),
  ),
);

describe.each(engines)('local times in SQL on $name', (engine) => {
  let store: TestStore;
  let parser: SqlParser;
  let projectId: number;
  let settings: ProjectSettings;
  beforeAll(async () => {
    store = await engine.open();
    ({ environmentId: projectId } = await createTestTenant(store.database));
    await store.database.sql.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       SELECT $1, at, gen_random_uuid(), 'visit', 'ann', gen_random_uuid(), '{}', at FROM unnest($2::timestamptz[]) AS at`,
      [projectId, [...new Set(times)].map((time) => new Date(time).toISOString())],
    );
    settings = await readProjectSettings(store.database.sql, projectId);
    parser = createParser();
    await parser.parse('SELECT 1');
  });
  afterAll(async () => {
    await parser.stop();
    await store.stop();
  });

  test.each(zones)('returns the correct local times of events in %s', async (zone) => {
    const { toWallTime, toInstant } = createTimeZone(zone);
    const local = `toTimeZone(timestamp, '${zone}')`;
    const text = `SELECT toUnixTimestamp(timestamp), toUnixTimestamp(toStartOfDay(${local})), toUnixTimestamp(toStartOfHour(${local})),
        toUnixTimestamp(toStartOfInterval(${local}, INTERVAL 15 MINUTE)), toString(toDate(${local})), toHour(${local}), toString(${local})
        FROM events ORDER BY timestamp LIMIT 1000`;
    const { results } = await runSql(
      { sql: store.database.sql, events: store.events, parser },
      { projectId, settings, now: Date.now(), text },
      ample(),
    );
    const expected = [...new Set(times)]
      .sort((a, b) => a - b)
      .map((time) => {
        const wall = toWallTime(time);
        const offset = wall - time;
        const midnight = Math.floor(wall / day) * day;
        const text = new Date(wall).toISOString();
        const quarters = Math.floor((wall - midnight) / (15 * minute)) * 15 * minute;
        const starts = [
          toInstant(midnight),
          Math.floor(wall / hour) * hour - offset,
          toInstant(midnight) + quarters,
        ].map((start) => start / 1000);
        const fraction = `${text.slice(0, 23).replace('T', ' ')}000`;
        return [Math.floor(time / 1000), ...starts, text.slice(0, 10), new Date(wall).getUTCHours(), fraction];
      });
    expect(results).toEqual(expected);
  });
});
