import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningServices, startRunningServices } from '../testing/running-services.ts';

let services: RunningServices;
let directory: string;
beforeAll(async () => {
  services = await startRunningServices();
  directory = mkdtempSync(join(tmpdir(), 'millrace-flags-'));
});
afterAll(async () => {
  await services?.stop();
  if (directory) rmSync(directory, { recursive: true });
});

const run = (args: string[], env: Record<string, string> = {}) => services.run(['flags', ...args], { env });
const result = (...args: string[]) => services.runJson('flags', ...args);

const ofPlan = { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] };

test('creates a flag, changes it without losing its conditions, turns it off and on, lists it and shows it', async () => {
  const filters = JSON.stringify({ groups: [ofPlan] });
  const project = ['--project', String(services.tenant.projectId)];
  const made = await result('create', 'new-checkout', ...project, '--filters', filters, '--name', 'The new checkout');
  expect(made).toMatchObject({ key: 'new-checkout', name: 'The new checkout', active: true, version: 1 });
  const changed = await result('set', 'new-checkout', '--rollout', '20');
  expect(changed).toMatchObject({ id: made.id, name: 'The new checkout', version: 2 });
  expect(changed.filters.groups).toMatchObject([{ ...ofPlan, rollout_percentage: 20 }]);
  expect(await result('toggle', 'new-checkout')).toMatchObject({ active: false });
  expect(await result('set', 'new-checkout', '--active')).toMatchObject({ active: true });
  const file = join(directory, 'filters.json');
  writeFileSync(file, JSON.stringify({ groups: [{ rollout_percentage: 50 }, { rollout_percentage: 100 }] }));
  await result('create', 'another', '--filters', `@${file}`, '--no-active');
  expect((await result('list')).map(({ key, active }: { key: string; active: boolean }) => [key, active])).toEqual([
    ['another', false],
    ['new-checkout', true],
  ]);
  const { out } = await run(['show', 'new-checkout']);
  expect(out).toMatch(/^key +new-checkout$/m);
  expect(out).toMatch(/^filters +\{"groups":/m);
});

test('`flags create` and `flags set` report SDKs that would evaluate the flag locally with a different result', async () => {
  const filters = (percentage: number) => JSON.stringify({ groups: [{ ...ofPlan, rollout_percentage: percentage }] });
  expect(await run(['create', 'for-some', '--filters', filters(55.5)])).toMatchObject({
    exitCode: 0,
    err: expect.stringMatching(/^! posthog-go before 1\.5\.6 .*\n! posthog-go before 1\.5\.7 .*\n$/),
  });
  expect(await run(['set', 'for-some', '--filters', filters(100)])).toMatchObject({ exitCode: 0, err: '' });
});

test('rejects a mistyped flag key, and suggests the existing flag', async () => {
  await result('create', 'kill-switch');
  for (const words of [
    ['set', 'kil-switch', '--no-active'],
    ['toggle', 'kill_switch'],
    ['show', 'Kill-switch'],
    ['evaluate', 'killswitch', '--distinct-id', 'ada'],
  ]) {
    const { exitCode, out, err } = await run(words);
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toMatch(/^error: <key>: The project has no flag "[^"]+"\. Did you mean kill-switch\?\n$/);
  }
  const flags = (await result('list')) as { key: string; active: boolean }[];
  expect(flags.filter(({ key }) => /^kill?.?switch$/i.test(key))).toMatchObject([{ key: 'kill-switch', active: true }]);
});

const byCountry = { properties: [{ key: 'country', type: 'person', operator: 'exact', value: 'de' }] };
const variants = [
  { key: 'green', rollout_percentage: 50 },
  { key: 'blue', rollout_percentage: 50 },
];

test.each([
  ['all users', {}, [], '100%'],
  ['a percentage of all users', {}, ['--rollout', '30'], '30%'],
  ['a percentage of some users', { groups: [byCountry] }, ['--rollout', '30'], '30% where country'],
  ['several conditions', { groups: [byCountry, { rollout_percentage: 5.5 }] }, [], '100% where country; 5.5%'],
  [
    'variants',
    { groups: [{ ...byCountry, variant: 'blue' }], multivariate: { variants } },
    [],
    '100% where country → blue',
  ],
] as const)('describes the rollout of a flag: %s', async (what, filters, options, words) => {
  const key = `for-${what.replaceAll(' ', '-')}`;
  await result('create', key, ...(Object.keys(filters).length > 0 ? ['--filters', JSON.stringify(filters)] : []));
  const { out } = options.length > 0 ? await run(['set', key, ...options]) : await run(['show', key]);
  expect(out).toMatch(new RegExp(`^rollout +${words}$`, 'm'));
  const { out: list } = await run(['list']);
  expect(list.split('\n').find((line) => line.startsWith(`${key} `))).toContain(` ${words} `);
});

test('explains an evaluation with its conditions, properties, the sources of their values, and hashes', async () => {
  await result('create', 'explained', '--filters', JSON.stringify({ groups: [ofPlan, { rollout_percentage: 0 }] }));
  const evaluate = ['evaluate', 'explained', '--distinct-id', 'ada'];
  expect(await result(...evaluate)).toEqual({
    key: 'explained',
    value: false,
    evaluation: { reason: 'out_of_rollout_bound', condition_index: 1, description: expect.any(String) },
  });
  expect(await result(...evaluate, '--property', 'plan=pro', '--explain')).toMatchObject({
    value: true,
    evaluation: { reason: 'condition_match', condition_index: 0 },
    explanation: { conditions: [{ filters: [{ key: 'plan', source: 'request', outcome: true }] }, {}] },
  });
  const { out } = await run([...evaluate, '--property', 'plan=pro', '--group', 'company=acme', '--explain']);
  expect(out).toMatch(/^value +true$/m);
  expect(out).toMatch(/^condition 1: match \(this condition determined the result\)$/m);
  expect(out).toMatch(/^ {2}person property plan, value from the command: matches$/m);
  expect(out).toMatch(/^ {2}rollout 100%: hash 0\.\d{6}$/m);
  expect(out).toMatch(/^condition 2: out_of_rollout_bound$/m);
});

test.each([
  ['a missing flag', ['show', 'unknown'], {}, 1, '<key>: The project has no flag "unknown".'],
  [
    'an error of the API',
    ['create', 'bad key'],
    {},
    1,
    'The management API responded with 400 key: Only letters, numbers',
  ],
  ['a key that is in use', ['create', 'another'], {}, 1, 'The management API responded with 400 key: There is already'],
  ['a call without changes', ['set', 'another'], {}, 2, 'Specify a change: '],
  ['a missing project', ['list', '--project', '99999'], {}, 1, '--project: The management API responded with 404'],
  [
    'an invalid key',
    ['list'],
    { PERSONAL_API_KEY: 'phx_none' },
    1,
    '--personal-api-key: The management API responded with 401',
  ],
  ['a missing URL', ['list'], { API_URL: '' }, 2, '--api-url: Pass the URL of the management API'],
  ['a missing key', ['list'], { PERSONAL_API_KEY: '' }, 2, '--personal-api-key: Pass a personal API key'],
  [
    'an unreachable server',
    ['list'],
    { API_URL: 'http://127.0.0.1:9' },
    1,
    '--api-url: Could not reach the management API at http://127.0.0.1:9 (',
  ],
  ['filters that are not JSON', ['create', 'x', '--filters', '{'], {}, 2, '--filters: '],
  ['a rollout for several conditions', ['set', 'another', '--rollout', '5'], {}, 2, '--rollout: The flag has several'],
] as [string, string[], Record<string, string>, number, string][])(
  'reports %s in one line',
  async (_what, args, env, code, line) => {
    const { exitCode, out, err } = await run(args, env);
    expect([exitCode, out, err.trim().split('\n').length]).toEqual([code, '', 1]);
    expect(err).toContain(`error: ${line}`);
  },
);
