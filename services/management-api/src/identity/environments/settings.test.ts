import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { createTenantWithKeys, pathFamilies, type TenantWithKeys } from '../../testing/tenant-with-keys.ts';

/**
 * Tests cases project-023 to project-048, project-064, project-068 and project-069 (docs/cases.md#the-rest-api), which
 * cover each setting and its rules.
 */
let api: TestApi;
let fixture: TenantWithKeys;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const invalid = (attr: string | null, detail: string, code = 'invalid_input') => ({
  type: 'validation_error',
  code,
  detail,
  attr,
});
const rate = 'session_recording_sample_rate';
const duration = 'session_recording_minimum_duration_milliseconds';
const flag = 'session_recording_linked_flag';
const network = 'session_recording_network_payload_capture_config';
const replay = 'session_replay_config';
const ignored = 'autocapture_exceptions_errors_to_ignore';
const dictionary = 'Must provide a dictionary or None.';
const flagKeys = "Must provide a dictionary with only 'id' and 'key' keys. _or_ only 'id', 'key', and 'variant' keys.";

const refused: [string, object, object][] = [
  [
    'project-024',
    { timezone: 'America/I_Dont_Exist' },
    invalid(
      'timezone',
      '"America/I_Dont_Exist" is not a valid choice. Use an IANA time zone name such as Europe/Berlin.',
      'invalid_choice',
    ),
  ],
  [
    'project-024: an offset',
    { timezone: '+02:00' },
    invalid(
      'timezone',
      '"+02:00" is not a valid choice. Use an IANA time zone name such as Europe/Berlin.',
      'invalid_choice',
    ),
  ],
  ['project-024: null', { timezone: null }, invalid('timezone', 'This field may not be null.', 'null')],
  [
    'project-028',
    { autocapture_exceptions_opt_in: 'Welwyn' },
    invalid('autocapture_exceptions_opt_in', 'Must be a valid boolean.'),
  ],
  ['project-029: an object', { [ignored]: { a: 1 } }, invalid(null, `Must provide a list for field: ${ignored}.`)],
  [
    'project-029: items that are not strings',
    { [ignored]: [1, false] },
    invalid(null, `Must provide a list of strings to field: ${ignored}.`),
  ],
  [
    'project-029: too long',
    { [ignored]: Array(300).fill('abc') },
    expect.objectContaining({ attr: null, detail: expect.stringContaining('must be less than 300 characters') }),
  ],
  ['project-029: null', { [ignored]: null }, invalid(ignored, 'This field may not be null.', 'null')],
  ['project-030', { [rate]: 'x' }, invalid(rate, 'A valid number is required.')],
  ['project-031', { [rate]: '-1' }, invalid(rate, 'Ensure this value is greater than or equal to 0.', 'min_value')],
  ['project-032', { [rate]: '1.5' }, invalid(rate, 'Ensure this value is less than or equal to 1.', 'max_value')],
  [
    'project-033',
    { [rate]: '0.534' },
    invalid(rate, 'Ensure that there are no more than 2 decimal places.', 'max_decimal_places'),
  ],
  [
    'project-033: digits',
    { [rate]: '12.34' },
    invalid(rate, 'Ensure that there are no more than 3 digits in total.', 'max_digits'),
  ],
  [
    'project-033: an integer',
    { [rate]: 22 },
    invalid(rate, 'Ensure that there are no more than 1 digits before the decimal point.', 'max_whole_digits'),
  ],
  ['project-035', { [duration]: 'x' }, invalid(duration, 'A valid integer is required.')],
  [
    'project-036',
    { [duration]: '-1' },
    invalid(duration, 'Ensure this value is greater than or equal to 0.', 'min_value'),
  ],
  [
    'project-037',
    { [duration]: 30_001 },
    invalid(duration, 'Ensure this value is less than or equal to 30000.', 'max_value'),
  ],
  ['project-038', { [duration]: '0.5' }, invalid(duration, 'A valid integer is required.')],
  ['project-039: text', { [flag]: 's' }, invalid(flag, dictionary)],
  ['project-039: 1', { [flag]: 1 }, invalid(flag, dictionary)],
  ['project-039: "1"', { [flag]: '1' }, invalid(flag, dictionary)],
  ...['key', 'id', 'variant', 'key,variant', 'id,variant', 'wat'].map((keys): [string, object, object] => [
    `project-040: ${keys}`,
    { [flag]: Object.fromEntries(keys.split(',').map((key) => [key, 1])) },
    invalid(flag, flagKeys),
  ]),
  ['project-042: text', { [network]: 's' }, invalid(network, dictionary)],
  [
    'project-042: a key',
    { [network]: { key: 1 } },
    invalid(network, "Must provide a dictionary with only 'recordHeaders' and/or 'recordBody' keys."),
  ],
  [
    'project-045: a key',
    { [replay]: { wat: 1 } },
    invalid(replay, 'Must provide a dictionary with only known keys. One or more of record_canvas, ai_config.'),
  ],
  ['project-045: ai_config', { [replay]: { ai_config: 's' } }, invalid(replay, dictionary)],
  [
    'project-045: ai_config key',
    { [replay]: { ai_config: { key: 1 } } },
    invalid(
      replay,
      'Must provide a dictionary with only allowed keys: included_event_properties, opt_in, preferred_events, excluded_events, important_user_properties.',
    ),
  ],
  ['name, blank', { name: ' ' }, invalid('name', 'This field may not be blank.', 'blank')],
  [
    'name, long',
    { name: 'x'.repeat(201) },
    invalid('name', 'Ensure this field has no more than 200 characters.', 'max_length'),
  ],
  [
    'app_urls, not a list',
    { app_urls: 'https://a' },
    invalid('app_urls', 'Expected a list of items but got type "str". Send a JSON array.', 'not_a_list'),
  ],
  [
    'app_urls, long',
    { app_urls: ['a', 'x'.repeat(201)] },
    invalid('app_urls__1', 'Ensure this field has no more than 200 characters.', 'max_length'),
  ],
  ['app_urls, null', { app_urls: null }, invalid('app_urls', 'This field may not be null.', 'null')],
  [
    'week_start_day',
    { week_start_day: '' },
    invalid('week_start_day', '"" is not a valid choice. Choose one of: 0, 1, 2, 3, 4, 5, 6.', 'invalid_choice'),
  ],
  [
    'modifiers, an unknown mode',
    { modifiers: { personsOnEventsMode: 'joined' } },
    invalid(
      'modifiers',
      'personsOnEventsMode: Choose one of: disabled, person_id_override_properties_joined, person_id_override_properties_on_events, person_id_no_override_properties_on_events.',
      'invalid_input',
    ),
  ],
  [
    'test_account_filters, null',
    { test_account_filters: null },
    invalid('test_account_filters', 'This field may not be null.', 'null'),
  ],
  [
    'test_account_filters, not a list',
    { test_account_filters: { type: 'AND', values: [] } },
    invalid('test_account_filters', 'Expected a list of filters.', 'invalid_input'),
  ],
  [
    'test_account_filters, an invalid pattern',
    {
      test_account_filters: [
        { key: 'k', value: 'v' },
        { key: '$host', operator: 'regex', value: '(' },
      ],
    },
    expect.objectContaining({
      ...{ attr: 'test_account_filters', code: 'invalid_input' },
      detail: expect.stringContaining('test_account_filters.1.value: '),
    }),
  ],
  [
    'test_account_filters, a cohort that does not exist',
    { test_account_filters: [{ type: 'cohort', key: 'id', value: 987_654 }] },
    invalid('test_account_filters', 'test_account_filters.0.value: Cohort 987654 does not exist.', 'invalid_input'),
  ],
  [
    'test_account_filters, an invalid expression',
    {
      test_account_filters: [
        { key: 'k', value: 'v' },
        { type: 'hogql', key: 'evnt = 1' },
      ],
    },
    invalid('test_account_filters', 'test_account_filters.1.key: Unable to resolve field: evnt (line 1, column 1)'),
  ],
  [
    'survey_config',
    { survey_config: 's' },
    invalid('survey_config', 'Expected a dictionary of items but got type "str". Send a JSON object.', 'not_a_dict'),
  ],
  ['anonymize_ips, null', { anonymize_ips: null }, invalid('anonymize_ips', 'This field may not be null.', 'null')],
  [
    'project-027: primary_dashboard, of another environment',
    { primary_dashboard: 12 },
    invalid('primary_dashboard', 'Dashboard does not belong to this team.', 'invalid_input'),
  ],
  [
    'primary_dashboard, too large',
    { primary_dashboard: 2_147_483_648 },
    invalid('primary_dashboard', 'Ensure this value is less than or equal to 2147483647.', 'max_value'),
  ],
  [
    'request-014: two faults, the first in order of fields',
    { name: '', timezone: 'x', app_urls: 1 },
    invalid('name', 'This field may not be blank.', 'blank'),
  ],
  ['request-011', [], invalid(null, 'Invalid data. Expected a dictionary, but got list. Send a JSON object.')],
];

const taken: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ['project-025', { test_account_filters_default_checked: 'true' }, { test_account_filters_default_checked: true }],
  [
    'project-026',
    { test_account_filters: [{ key: 'k', value: 'v' }] },
    { test_account_filters: [{ key: 'k', value: 'v' }] },
  ],
  [
    'test_account_filters, an expression',
    { test_account_filters: [{ type: 'hogql', key: "properties.plan != 'internal'" }] },
    { test_account_filters: [{ type: 'hogql', key: "properties.plan != 'internal'" }] },
  ],
  ['project-027: null', { primary_dashboard: null }, { primary_dashboard: null }],
  ['project-028', { autocapture_exceptions_opt_in: true }, { autocapture_exceptions_opt_in: true }],
  ['project-028: the word null', { autocapture_exceptions_opt_in: 'null' }, { autocapture_exceptions_opt_in: null }],
  ['project-029', { [ignored]: ['a'] }, { [ignored]: ['a'] }],
  ['project-034', { [rate]: 0.4 }, { [rate]: '0.40' }],
  ['project-034: a string', { [rate]: '1' }, { [rate]: '1.00' }],
  ['project-034: empty', { [rate]: '' }, { [rate]: null }],
  ['project-038: 1.0', { [duration]: '2000.0' }, { [duration]: 2000 }],
  ['project-041', { [flag]: { id: 1, key: 'k' } }, { [flag]: { id: 1, key: 'k' } }],
  [
    'project-041: variant',
    { [flag]: { id: 1, key: 'k', variant: 'v' } },
    { [flag]: { id: 1, key: 'k', variant: 'v' } },
  ],
  ['project-041: null', { [flag]: null }, { [flag]: null }],
  [
    'project-064',
    { correlation_config: { excluded_person_property_names: ['a'] } },
    { correlation_config: { excluded_person_property_names: ['a'] } },
  ],
  ['project-068', { app_urls: ['a', null, 'b', null, ''] }, { app_urls: ['a', 'b'] }],
  ['project-068: all null', { app_urls: [null, null] }, { app_urls: [] }],
  ['project-069 and its like', { live_events_columns: [null, 'event'] }, { live_events_columns: ['event'] }],
  ['project-069 and its like', { person_display_name_properties: [null] }, { person_display_name_properties: [] }],
  ['project-069', { recording_domains: null }, { recording_domains: null }],
  ['week_start_day', { week_start_day: '1' }, { week_start_day: 1 }],
  [
    'request-013: unknown and read-only fields',
    { id: 7, uuid: 'x', api_token: 'phc_mine', ingested_event: true, wat: 1 },
    { ingested_event: false },
  ],
  ['nothing', {}, {}],
];

describe.each(pathFamilies)('%s', (_family, pathOf) => {
  beforeAll(async () => {
    fixture = await createTenantWithKeys(api);
  });
  const patch = (body: unknown, key = fixture.keys.A) => api.send('PATCH', pathOf(fixture.tenant), { key, body });

  test.each(refused)('%s returns 400 and changes nothing', async (_case, body, expected) => {
    const before = await api.get(pathOf(fixture.tenant), fixture.keys.A);
    expect(await patch(body)).toMatchObject({ status: 400, body: expected });
    const after = await api.get(pathOf(fixture.tenant), fixture.keys.A);
    expect({ ...after.body, live_events_token: '' }).toEqual({ ...before.body, live_events_token: '' });
  });

  test.each(taken)('PATCH and PUT accept %s', async (_case, body, expected) => {
    for (const method of ['PATCH', 'PUT'] as const) {
      const response = await api.send(method, pathOf(fixture.tenant), { key: fixture.keys.A, body });
      expect(response).toMatchObject({ status: 200, body: { ...expected, id: fixture.tenant.projectId } });
      expect(response.body.api_token).toBe(fixture.tenant.projectApiKey);
    }
    expect((await api.get(pathOf(fixture.tenant), fixture.keys.M)).body).toMatchObject(expected);
  });

  test('project-027: requires that the primary dashboard exists in the environment', async () => {
    const dashboards = `/api/projects/${fixture.tenant.projectId}/dashboards/`;
    const { body } = await api.send('POST', dashboards, { key: fixture.keys.A, body: { name: 'Home' } });
    expect((await patch({ primary_dashboard: body.id })).body.primary_dashboard).toBe(body.id);
    await api.send('PATCH', `${dashboards}${body.id}/`, { key: fixture.keys.A, body: { deleted: true } });
    expect((await api.get(pathOf(fixture.tenant), fixture.keys.A)).body.primary_dashboard).toBeNull();
    expect((await patch({ primary_dashboard: body.id })).status).toBe(400);
  });

  test('project-043: replaces the network configuration completely, and clears it with null', async () => {
    await patch({ [network]: { recordHeaders: true } });
    expect((await patch({ [network]: { recordBody: false } })).body[network]).toEqual({ recordBody: false });
    expect((await patch({ [network]: null })).body[network]).toBeNull();
  });

  test('project-044, project-046, project-047, project-048: merges replay settings one level deep, replaces arrays, and clears settings with null', async () => {
    await patch({ [replay]: { ai_config: { opt_in: true } } });
    expect((await patch({ [replay]: { record_canvas: true } })).body[replay]).toEqual({
      ai_config: { opt_in: true },
      record_canvas: true,
    });
    await patch({ [replay]: { ai_config: { included_event_properties: ['a', 'b'] } } });
    const { body } = await patch({ [replay]: { ai_config: { included_event_properties: ['c'] } } });
    expect(body[replay]).toEqual({
      ai_config: { opt_in: true, included_event_properties: ['c'] },
      record_canvas: true,
    });
    expect((await patch({ [replay]: null })).body[replay]).toBeNull();
  });

  test('merges changed survey settings with the stored ones one level deep, and clears them with null', async () => {
    await patch({ survey_config: { a: 1, b: { c: 1 } } });
    expect((await patch({ survey_config: { b: { d: 2 } } })).body.survey_config).toEqual({ a: 1, b: { d: 2 } });
    expect((await patch({ survey_config: null })).body.survey_config).toBeNull();
  });

  test('project-023: records a change once, and records nothing when nothing changes', async () => {
    fixture = await createTenantWithKeys(api);
    const { tenant } = fixture;
    await patch({ timezone: 'Europe/Lisbon' });
    await patch({ timezone: 'Europe/Lisbon' });
    const { body } = await api.send('GET', `${pathOf(tenant)}activity/`, {
      key: fixture.keys.M,
      headers: { prefer: 'return=representation' },
    });
    expect(body).toMatchObject({ total_count: 1, next: null, previous: null });
    expect(body.results[0]).toMatchObject({
      activity: 'updated',
      scope: 'Team',
      item_id: String(tenant.projectId),
      user: { email: `8-${tenant.organizationId}@example.com` },
      detail: {
        changes: [{ type: 'Team', action: 'changed', field: 'timezone', before: 'UTC', after: 'Europe/Lisbon' }],
      },
    });
  });

  // project-034: PostHog records "0.4" as the client sent it. Millrace records the number as it is stored and returned.
  test('project-034: records the first value of an empty setting as created', async () => {
    fixture = await createTenantWithKeys(api);
    const { tenant } = fixture;
    await patch({ [rate]: 0.4 });
    const rows = await api.database.sql.query<{ detail: { changes: unknown[] } }>(
      'SELECT detail FROM activity_log WHERE item_id = $1',
      [String(tenant.projectId)],
    );
    expect(rows.map((row) => row.detail.changes)).toEqual([
      [{ type: 'Team', action: 'created', field: rate, before: null, after: '0.40' }],
    ]);
  });

  test('records a change to a secret setting without its value', async () => {
    fixture = await createTenantWithKeys(api);
    const { tenant } = fixture;
    await patch({ slack_incoming_webhook: 'https://hooks.example.com/secret-part' });
    const rows = await api.database.sql.query('SELECT detail FROM activity_log WHERE item_id = $1', [
      String(tenant.projectId),
    ]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('secret-part');
  });

  test('keeps concurrent changes to different settings', async () => {
    fixture = await createTenantWithKeys(api);
    const changes: Record<string, unknown>[] = [
      { name: 'Renamed' },
      { timezone: 'Asia/Tokyo' },
      { anonymize_ips: true },
      { app_urls: ['https://a'] },
      { [replay]: { record_canvas: true } },
      { [replay]: { ai_config: { opt_in: true } } },
      { survey_config: { a: 1 } },
      { survey_config: { b: 2 } },
    ];
    const responses = await Promise.all(changes.map((body) => patch(body)));
    expect(responses.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect((await api.get(pathOf(fixture.tenant), fixture.keys.M)).body).toMatchObject({
      name: 'Renamed',
      timezone: 'Asia/Tokyo',
      anonymize_ips: true,
      app_urls: ['https://a'],
      [replay]: { record_canvas: true, ai_config: { opt_in: true } },
      survey_config: { a: 1, b: 2 },
    });
  });

  test('project-059: returns 403 for `access_control` unless the caller is an administrator of the organization', async () => {
    fixture = await createTenantWithKeys(api);
    const { tenant, keys, membershipId } = fixture;
    const detail = 'Your organization access level is insufficient to configure project access restrictions.';
    for (const value of [true, false]) {
      expect(await patch({ access_control: value }, keys.M)).toMatchObject({ status: 403, body: { detail } });
    }
    await api.database.sql.query(
      "INSERT INTO access_rule (environment_id, resource, membership_id, level) VALUES ($1, 'project', $2, 'admin')",
      [tenant.environmentId, membershipId],
    );
    expect((await patch({ access_control: true }, keys.M)).status).toBe(403);
    // project-060: a later version of PostHog rejects this field. Millrace accepts it.
    expect(await patch({ access_control: true })).toMatchObject({ status: 200, body: { access_control: true } });
  });
});

test('accepts off, stateless and null as cookieless mode, and rejects an unsupported mode', async () => {
  const { tenant, keys } = await createTenantWithKeys(api);
  const path = `/api/environments/${tenant.environmentId}/`;
  const patch = (mode: unknown) =>
    api.send('PATCH', path, { key: keys.A, body: { cookieless_server_hash_mode: mode } });
  for (const mode of [1, null, 0]) {
    expect(await patch(mode)).toMatchObject({ status: 200, body: { cookieless_server_hash_mode: mode } });
  }
  const detail = 'Mode 2 (stateful) is not supported. Use 0 (off) or 1 (stateless).';
  expect(await patch(2)).toMatchObject({
    status: 400,
    body: invalid('cookieless_server_hash_mode', detail, 'invalid_choice'),
  });
  expect((await api.get(path, keys.A)).body).toMatchObject({ cookieless_server_hash_mode: 0 });
});
