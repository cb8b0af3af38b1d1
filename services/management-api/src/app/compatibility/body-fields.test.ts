import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BodySample, bodySamples } from '../../testing/body-samples.ts';
import { declaredRoutes } from '../../testing/declared-routes.ts';
import { type DocumentedNames, documentedNames, fieldsOf } from '../../testing/documented-names.ts';
import { createSampleRecords, type SampleRecords } from '../../testing/sample-records.ts';
import { startTestApi, type TestApi } from '../../testing/start-test-api.ts';
import { toRouteKey } from './route-key.ts';
import { withoutEffect } from './without-effect.ts';

/**
 * Tests every body field that PostHog documents for a route that Millrace has. A supported field must appear in the
 * saved record, or have its own test. A rejected field must get an error that names the field. A field without effect
 * is accepted and must not change anything.
 */
let api: TestApi;
let records: SampleRecords;
let samples: Record<string, BodySample>;
beforeAll(async () => {
  api = await startTestApi();
  records = await createSampleRecords(api);
  samples = bodySamples(records);
}, 60_000);
afterAll(() => api.stop());

type Fields = Record<string, unknown>;
type Method = 'POST' | 'PATCH' | 'PUT';
const send = (method: Method, path: string, body: Fields) => api.send(method, `${path}/`, { key: records.key, body });

function sampleOf(path: string): BodySample {
  const beginnings = Object.keys(samples).filter((beginning) => path === beginning || path.startsWith(`${beginning}/`));
  return samples[beginnings.sort((a, b) => b.length - a.length)[0] ?? ''] ?? {};
}

const neededBy = ({ needed = {} }: BodySample): Fields => (typeof needed === 'function' ? needed() : needed);

function neededFor(method: Method, sample: BodySample, before: Fields): Fields {
  if (method === 'PATCH') return {};
  const repeated = method === 'PUT' ? (sample.repeated ?? []) : [];
  return { ...neededBy(sample), ...only(before, repeated) };
}

async function prepare(method: Method, path: string, sample: BodySample): Promise<{ address: string; before: Fields }> {
  const created = sample.creates === undefined ? undefined : await records.create(sample.creates, neededBy(sample));
  const parts = path.split('{}');
  const isOfRecord = method !== 'POST';
  const kinds = parts.slice(0, -1).map((part) => part.split('/').at(-2) ?? '');
  const idOf = (kind: string, at: number) =>
    isOfRecord && created && at === kinds.length - 1 ? String(created.id) : (records.ids[kind] ?? kind);
  const address = parts.map((part, at) => (at < kinds.length ? `${part}${idOf(kinds[at] ?? '', at)}` : part)).join('');
  return { address, before: created ?? (await api.get(`${address}/`, records.key)).body ?? {} };
}

async function problemsOfStored(
  { key, working }: DocumentedNames,
  sample: BodySample,
  fields: Fields,
): Promise<string[]> {
  const [method, path] = key.split(' ') as [Method, string];
  const names = Object.keys(fields).filter((name) => working.includes(name));
  if (names.length === 0) return [];
  const { address, before } = await prepare(method, path, sample);
  const { status, body } = await send(method, address, {
    ...neededFor(method, sample, before),
    ...Object.fromEntries(names.map((name) => [name, fields[name]])),
  });
  if (status >= 300) return [`${names.join(', ')}: ${status} ${JSON.stringify(body)}`];
  const shown = { ...fields, ...sample.shown };
  return names.flatMap((name) => {
    const expected = shown[name];
    const isShown = isEqual(body[name], expected);
    const wasShown = isEqual(before[name], expected);
    return isShown && !wasShown
      ? []
      : [`${name} is ${JSON.stringify(body[name])}, was ${JSON.stringify(before[name])}`];
  });
}

function isEqual(value: unknown, expected: unknown): boolean {
  try {
    expect(value).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}

async function problemsOfRefused({ key }: DocumentedNames, sample: BodySample, fields: Fields): Promise<string[]> {
  const [method, path] = key.split(' ') as [Method, string];
  const problems: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const { address, before } = await prepare(method, path, sample);
    const { status, body } = await send(method, address, { ...neededFor(method, sample, before), [name]: value });
    if (status !== 400 || body.attr !== name)
      problems.push(`${name} is not refused: ${status} ${JSON.stringify(body)}`);
  }
  return problems;
}

async function problemsOfIgnored({ key, route, ignored }: DocumentedNames, sample: BodySample): Promise<string[]> {
  // The API ignores the request body of a route without a body schema.
  if (ignored.length === 0 || route.body === undefined) return [];
  const [method, path] = key.split(' ') as [Method, string];
  const responseTo = async (more: Fields) => {
    const { address, before } = await prepare(method, path, sample);
    return send(method, address, { ...neededFor(method, sample, before), ...more });
  };
  const [without, withThem] = [
    await responseTo({}),
    await responseTo(Object.fromEntries(ignored.map((name) => [name, sample.harmless?.[name] ?? 'x']))),
  ];
  return without.status === withThem.status && withThem.status !== 404
    ? []
    : [`${ignored.join(', ')}: ${without.status}, ${withThem.status} ${JSON.stringify(withThem.body)}`];
}

const only = (fields: Fields = {}, names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));

test.each(documentedNames('body').map((names) => [names.key, names] as const))(
  'every documented body field of %s works, is rejected by name, or is listed as without effect',
  async (key, names) => {
    const { route, working, refused } = names;
    const sample = sampleOf(key.split(' ')[1] ?? '');
    const problems: string[] = [];
    // This organization route rejects every request, because an export belongs to an environment.
    if (key === 'POST /api/organizations/{}/batch_exports') return;
    const declared = Object.keys(fieldsOf(route.body));
    for (const name of working) {
      const known = [sample.stored, sample.alone, sample.refused, sample.proven].some(
        (fields) => fields && name in fields,
      );
      if (!known)
        problems.push(`${name} is not in the samples: it has to work, be refused or be listed as without effect`);
      else if (declared.length > 0 && ![...declared, ...Object.keys(sample.refused ?? {})].includes(name))
        problems.push(`${name} is not read by the route`);
    }
    for (const [name, file] of Object.entries(only(sample.proven, working))) {
      const place = join(import.meta.dirname, '../..', String(file));
      if (!existsSync(place) || !readFileSync(place, 'utf8').includes(name))
        problems.push(`${file} does not test ${name}`);
    }
    problems.push(...(await problemsOfStored(names, sample, sample.stored ?? {})));
    for (const [name, value] of Object.entries(only(sample.alone, working)))
      problems.push(
        ...(await problemsOfStored(names, sample, { [name]: typeof value === 'function' ? value() : value })),
      );
    problems.push(...(await problemsOfRefused(names, sample, only(sample.refused, working))));
    const fromDeclaration = Object.fromEntries(refused.map((name) => [name, 'x']));
    problems.push(...(await problemsOfRefused(names, sample, fromDeclaration)));
    problems.push(...(await problemsOfIgnored(names, sample)));
    expect(problems).toEqual([]);
  },
);

test('every route in the table of fields without effect exists', () => {
  const keys = new Set(declaredRoutes().map(toRouteKey));
  expect(withoutEffect.flatMap(({ routes }) => routes.filter((key) => !keys.has(key)))).toEqual([]);
});
