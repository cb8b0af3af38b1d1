import { randomUUID } from 'node:crypto';
import { createPersonalApiKey } from '@millrace/accounts';
import { notFound, permissionDenied, validationError } from '../../testing/expected-errors.ts';
import { createActors, type OrganizationActors } from '../../testing/organization-actors.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { storePerson } from '../../testing/stored-data.ts';

let api: TestApi;
let acme: OrganizationActors;
let path: string;
let ada: string;
let bob: string;
let eve: string;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  acme = await createActors(api.database);
  path = `/api/projects/${acme.projectId}/cohorts/`;
  const person = (name: string, properties: object) =>
    storePerson(api.database.sql, acme.projectId, { distinctIds: [name, `${name}-2`], properties: { ...properties } });
  ada = await person('ada', { email: 'ada@example.com', plan: 'pro' });
  bob = await person('bob', { email: 'bob@example.com', plan: 'free' });
  eve = await person('eve, "the" third', { plan: 'pro' });
});

async function sendForm(
  method: 'POST' | 'PATCH',
  where: string,
  fields: Record<string, string>,
  file?: string | Buffer,
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (file !== undefined) form.set('csv', new Blob([file]), 'members.csv');
  const response = await fetch(api.url + where, {
    method,
    headers: { authorization: `Bearer ${acme.M.key}` },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const upload = (file: string | Buffer) => sendForm('POST', path, { name: 'Testers', is_static: 'true' }, file);
const members = async (id: unknown) =>
  (
    await api.database.sql.query<{ person_uuid: string }>(
      'SELECT person_uuid FROM cohort_member WHERE project_id = $1 AND cohort_id = $2 ORDER BY person_uuid',
      [acme.projectId, id],
    )
  ).map(({ person_uuid }) => person_uuid);
const those = (...uuids: string[]) => uuids.sort();
const send = (method: 'PATCH' | 'POST', where: string, body: object) =>
  api.send(method, where, { key: acme.M.key, body });
async function made(body: object): Promise<number> {
  return (await send('POST', path, { name: 'A cohort', ...body })).body.id;
}
const paying = {
  filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: 'pro' }] } },
};

describe('uploading a CSV file of members', () => {
  test.each<[string, () => string, () => string[]]>([
    ['distinct IDs without a header', () => 'ada\nbob-2\nnobody\n', () => [ada, bob]],
    ['one ID without a line break', () => 'ada', () => [ada]],
    [
      'a byte order mark, Windows line breaks, spaces and empty lines',
      () => '\ufeffdistinct_id\r\n ada \r\n\r\nbob\r\n',
      () => [ada, bob],
    ],
    ['a header with a hyphen', () => 'distinct-id\nada', () => [ada]],
    ['person IDs', () => `person_id\n${ada}\n${bob.toUpperCase()}\nnot-a-uuid\n`, () => [ada, bob]],
    ['email addresses', () => 'email\nada@example.com\nnobody@example.com\n', () => [ada]],
    ['a header with a hyphen and capital letters', () => 'E-Mail\nbob@example.com\n', () => [bob]],
    ['an ID with quotes and a comma', () => 'distinct_id\n"eve, ""the"" third"\n', () => [eve]],
    ['several columns', () => 'name,distinct_id\nAda,ada\nBob,bob\n', () => [ada, bob]],
    [
      'a person_id column, which it prefers to distinct_id and email',
      () => `email,distinct_id,person_id\nbob@example.com,bob,${ada}\n`,
      () => [ada],
    ],
    ['a distinct_id column, which it prefers to email', () => 'email,distinct_id\nbob@example.com,ada\n', () => [ada]],
    ['rows of different lengths', () => 'name,distinct_id\nAda\nBob,bob,more,and more\n', () => [bob]],
    ['several IDs of the same person', () => 'ada\nada-2\nada\n', () => [ada]],
  ])('creates a static cohort from a file with %s', async (_name, file, expected) => {
    const { status, body } = await upload(file());
    expect({ status, detail: body.detail }).toEqual({ status: 201, detail: undefined });
    expect(await members(body.id)).toEqual(those(...expected()));
    expect(body).toMatchObject({
      is_static: true,
      cohort_type: 'static',
      count: expected().length,
      is_calculating: false,
    });
  });

  test.each<[string, () => string | Buffer, string]>([
    ['that is empty', () => '', 'The file is empty.'],
    ['with only line breaks', () => '\n\n\n', 'The file is empty.'],
    ['with only a header', () => 'distinct_id\n', 'The file contains no IDs.'],
    [
      'without a known column',
      () => 'name,age\nAda,36\n',
      'The file has no column named person_id, distinct_id or email.',
    ],
    ['that is not UTF-8', () => Buffer.from([0x61, 0xff, 0xfe, 0x0a]), 'The file is not valid UTF-8.'],
    ['with an unclosed quote', () => `"${'x\n'.repeat(100_000)}`, 'The file could not be read as CSV.'],
    ['with a line of 3 MB', () => 'x'.repeat(3_000_000), 'The file could not be read as CSV.'],
    [
      'with a million rows',
      () => 'a\n'.repeat(1_000_000),
      'The file has more than 250000 rows. Split it into several files.',
    ],
  ])('returns 400 for a file %s, and creates no cohort', async (_name, file, detail) => {
    expect(await upload(file())).toMatchObject(validationError('invalid_input', 'csv', detail));
    expect((await api.get(path, acme.M.key)).body.count).toBe(0);
  });

  test('returns 413 when the file or another field is too large', async () => {
    expect(await upload(`${'x'.repeat(60_000)}\n`.repeat(200))).toMatchObject({ status: 413 });
    expect(await sendForm('POST', path, { name: 'x'.repeat(1_200_000), is_static: 'true' }, 'ada')).toMatchObject({
      status: 413,
    });
  });

  test('returns 400 when the field `csv` is a string instead of a file', async () => {
    const detail = 'The submitted data was not a file. Check the encoding type on the form.';
    expect(await sendForm('POST', path, { name: 'x', is_static: 'true', csv: 'ada' })).toMatchObject(
      validationError('invalid_input', 'csv', detail),
    );
  });

  test('adds members to an existing cohort in the same request as other changes', async () => {
    const id = (await upload('ada\n')).body.id;
    const { status, body } = await sendForm('PATCH', `${path}${id}/`, { description: 'more' }, 'bob\n');
    expect([status, body.description, body.count]).toEqual([200, 'more', 2]);
    expect(await members(id)).toEqual(those(ada, bob));
  });

  test('returns 400 for uploading members to a dynamic cohort, and changes nothing', async () => {
    const filters = JSON.stringify(paying.filters);
    const refused = validationError(
      'invalid_input',
      'csv',
      'Only static cohorts can have a list of members. Set `is_static` to true, or leave the file out.',
    );
    expect(await sendForm('POST', path, { name: 'x', filters }, 'ada')).toMatchObject(refused);
    const id = await made(paying);
    expect(await sendForm('PATCH', `${path}${id}/`, { name: 'other' }, 'ada')).toMatchObject(refused);
    expect((await api.get(`${path}${id}/`, acme.M.key)).body.name).toBe('A cohort');
  });

  test('accepts a form without a file but with filters as JSON', async () => {
    const filters = JSON.stringify(paying.filters);
    expect(await sendForm('POST', path, { name: 'x', filters })).toMatchObject({ status: 201, body: paying });
    expect(await sendForm('POST', path, { name: 'x', filters: '{"properties"' })).toMatchObject({
      status: 400,
      body: { code: 'parse_error', attr: 'filters' },
    });
  });

  test.each([
    ['without a boundary', 'multipart/form-data', 'x', 400],
    [
      'without a closing boundary',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="csv"; filename="a"\r\n\r\nada',
      400,
    ],
    ['with an empty body', 'multipart/form-data; boundary=b', '', 400],
    [
      'with too many fields',
      'multipart/form-data; boundary=b',
      `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(200)}--b--\r\n`,
      413,
    ],
  ])('rejects a form %s', async (_name, type, body, status) => {
    const headers = { authorization: `Bearer ${acme.M.key}`, 'content-type': type };
    const response = await fetch(api.url + path, { method: 'POST', headers, body });
    expect([response.status, ((await response.json()) as { attr: unknown }).attr]).toEqual([status, null]);
  });
});

test('adds members by UUID when the cohort is created, and by UUID or distinct ID afterwards', async () => {
  const id = await made({ is_static: true, _create_static_person_ids: [ada, randomUUID(), 'odd'] });
  expect(await members(id)).toEqual([ada]);
  const add = (person_ids: string[], where = id) =>
    send('PATCH', `${path}${where}/add_persons_to_static_cohort/`, { person_ids });
  expect(await add([bob, bob, randomUUID()])).toMatchObject({ status: 200, body: { success: true } });
  expect(await members(id)).toEqual(those(ada, bob));
  expect((await api.get(`${path}${id}/`, acme.M.key)).body.count).toBe(2);
  expect(await add([])).toMatchObject(validationError('invalid_input', 'person_ids', 'person_ids cannot be empty'));
  expect(await add([randomUUID(), 'x'])).toMatchObject(
    validationError('invalid_input', 'person_ids', 'No valid users to add to cohort'),
  );
  expect(await add([ada], await made(paying))).toMatchObject(
    validationError('invalid_input', null, 'Can only add users to static cohorts'),
  );
  expect(await add([ada], 2_000_000_000)).toMatchObject(notFound());
  const byDistinctId = (distinct_ids: string[]) =>
    send('PATCH', `${path}${id}/add_persons_to_static_cohort/`, { distinct_ids });
  expect(await byDistinctId(['eve, "the" third-2', 'unknown'])).toMatchObject({ status: 200, body: { success: true } });
  expect(await members(id)).toEqual(those(ada, bob, eve));
  expect(await byDistinctId(['unknown'])).toMatchObject(
    validationError('invalid_input', 'distinct_ids', 'No valid users to add to cohort'),
  );
  expect(await send('PATCH', `${path}${id}/add_persons_to_static_cohort/`, {})).toMatchObject(
    validationError('required', 'person_ids', 'This field is required.'),
  );
  const foreign = await storePerson(api.database.sql, acme.off.projectId, { distinctIds: ['theirs'], properties: {} });
  expect(await add([foreign])).toMatchObject({ status: 400 });
});

test('removes a single member of a cohort', async () => {
  const id = await made({ is_static: true, _create_static_person_ids: [ada, bob] });
  const remove = (person_id: string, where = id) =>
    send('PATCH', `${path}${where}/remove_person_from_static_cohort/`, { person_id });
  expect(await remove(ada.toUpperCase())).toMatchObject({ status: 200, body: { success: true } });
  expect(await members(id)).toEqual([bob]);
  expect((await api.get(`${path}${id}/`, acme.M.key)).body.count).toBe(1);
  for (const unknown of [ada, randomUUID(), 'odd']) expect(await remove(unknown)).toMatchObject(notFound());
  expect(await remove(ada, await made(paying))).toMatchObject(
    validationError('invalid_input', null, 'Can only remove users from static cohorts'),
  );
});

describe('listing the persons of a cohort', () => {
  const persons = (id: number, query = '', key = acme.M.key) => api.get(`${path}${id}/persons/${query}`, key);
  const uuidsOf = (response: { body: { results: { uuid: string }[] } }) =>
    response.body.results.map(({ uuid }) => uuid);

  test.each(['static', 'dynamic'])('returns the persons of a %s cohort in pages', async (type) => {
    const id = await made(type === 'dynamic' ? paying : { is_static: true, _create_static_person_ids: [ada, eve] });
    const all = await persons(id);
    expect(all).toMatchObject({ status: 200, body: { next: null, previous: null } });
    expect(uuidsOf(all)).toEqual(those(ada, eve));
    expect(all.body.results.find(({ uuid }: { uuid: string }) => uuid === ada)).toMatchObject({
      name: 'ada@example.com',
      distinct_ids: ['ada', 'ada-2'],
      properties: { plan: 'pro' },
    });
    const first = await persons(id, '?limit=1');
    const second = await api.get(first.body.next, acme.M.key);
    expect([...uuidsOf(first), ...uuidsOf(second)]).toEqual(those(ada, eve));
  });

  test('returns the same persons from persons/?cohort=, which rejects other filters and requires cohort:read', async () => {
    const list = (query: string) => api.get(`/api/projects/${acme.projectId}/persons/?${query}`, acme.M.key);
    for (const body of [paying, { is_static: true, _create_static_person_ids: [ada, eve] }]) {
      const id = await made(body);
      const all = await list(`cohort=${id}`);
      expect([uuidsOf(all), all.body.next]).toEqual([those(ada, eve), null]);
      const first = await list(`cohort=${id}&limit=1`);
      const second = await api.get(first.body.next, acme.M.key);
      expect([...uuidsOf(first), ...uuidsOf(second)]).toEqual(those(ada, eve));
      for (const other of [
        'offset=1',
        'email=a',
        'distinct_id=ada',
        'search=a',
        'properties=[]',
        'is_identified=true',
      ]) {
        const refused = await list(`cohort=${id}&${other}`);
        expect([refused.status, refused.body.attr]).toEqual([400, other.split('=')[0]]);
      }
    }
    const { value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: acme.M.userId,
      label: 'persons',
      scopes: ['person:read'],
    });
    const denied = await api.get(`/api/projects/${acme.projectId}/persons/?cohort=${await made(paying)}`, value);
    expect(denied).toMatchObject(permissionDenied("API key missing required scope 'cohort:read'"));
  });

  test('returns a full page even if most persons do not belong to the cohort', async () => {
    await api.database.sql.query(
      `INSERT INTO person (project_id, uuid, main_distinct_id, properties, created_at)
       SELECT $1, lpad(to_hex(n), 32, '0')::uuid, 'other-' || n, '{}', now() FROM generate_series(1, 20500) AS n`,
      [acme.projectId],
    );
    const page = await persons(await made(paying), '?limit=3');
    expect([uuidsOf(page), page.body.next]).toEqual([those(ada, eve), null]);
  });

  test('returns a CSV file from which a static cohort can be created', async () => {
    const id = await made(paying);
    const response = await fetch(`${api.url}${path}${id}/persons/?format=csv&limit=1`, {
      headers: { authorization: `Bearer ${acme.M.key}`, accept: 'text/csv' },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(response.headers.get('link')).toMatch(/^<http.*cursor=.*>; rel="next"$/);
    const all = await fetch(`${api.url}${path}${id}/persons/?format=csv`, {
      headers: { authorization: `Bearer ${acme.M.key}` },
    });
    expect(all.headers.get('link')).toBeNull();
    const text = await all.text();
    expect(text.split('\r\n')[0]).toBe('person_id,distinct_id,email,is_identified,created_at');
    expect(text).toContain(`${eve},"eve, ""the"" third",,`);
    expect(await members((await upload(text)).body.id)).toEqual(those(ada, eve));
  });

  test('requires the scope person:read in addition to cohort:read for listing the persons of a cohort', async () => {
    const id = await made(paying);
    const { value } = await createPersonalApiKey(api.database.sql, {
      actor: null,
      userId: acme.M.userId,
      label: 'k',
      scopes: ['cohort:write'],
    });
    expect(await persons(id, '', value)).toMatchObject(
      permissionDenied("API key missing required scope 'person:read'"),
    );
  });
});

test('copies a dynamic cohort to a static cohort, which is filled in the background', async () => {
  const id = await made({ name: 'Paying', ...paying });
  const head = await api.send('HEAD', `${path}${id}/duplicate_as_static_cohort/`, { key: acme.M.key });
  expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
  expect((await api.get(path, acme.M.key)).body.count).toBe(1);
  const copy = await api.get(`${path}${id}/duplicate_as_static_cohort/`, acme.M.key);
  expect(copy).toMatchObject({
    status: 200,
    body: { name: 'Paying (static copy)', is_static: true, is_calculating: true, filters: null, cohort_type: 'static' },
  });
  expect(await api.get(`${path}${copy.body.id}/duplicate_as_static_cohort/`, acme.M.key)).toMatchObject({
    status: 400,
  });
  const [row] = await api.database.sql.query('SELECT fill_from FROM cohort WHERE id = $1', [copy.body.id]);
  expect(row).toEqual({ fill_from: { cohort: id } });
});

test('lists the calculations of a cohort', async () => {
  const id = await made(paying);
  await api.database.sql.query(
    `INSERT INTO cohort_calculation (id, cohort_id, started_at, finished_at, count) VALUES ($1, $2, now(), now(), 2)`,
    [randomUUID(), id],
  );
  const history = await api.get(`${path}${id}/calculation_history/`, acme.M.key);
  expect(history).toMatchObject({ status: 200, body: { count: 1, results: [{ count: 2, error: null }] } });
  expect(await api.get(`${path}2000000000/calculation_history/`, acme.M.key)).toMatchObject(notFound());
});
