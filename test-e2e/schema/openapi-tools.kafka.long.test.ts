import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { installNpmPackages, installOrNull, installPythonTool } from '../testing/install-tools.ts';

const run = promisify(execFile);
const linters = ['@stoplight/spectral-cli@6.16.3', '@redocly/cli@2.77.0'];

const modules = await installOrNull('Spectral and Redocly', () => installNpmPackages('openapi-linters', linters));
const requirements = new URL('./openapi-python-client.txt', import.meta.url);
const python = await installOrNull('openapi-python-client', () =>
  installPythonTool('openapi-python-client', requirements),
);

let services: RunningServices;
let directory: string;
let document: { paths: Record<string, Record<string, { operationId?: string }>> };
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-openapi-'));
  services = await startServices({ eventLog: 'postgres', settings: { LOG_LEVEL: 'error' } });
  const text = await (await fetch(`${services.apiUrl}/api/schema/`)).text();
  document = JSON.parse(text);
  await writeFile(join(directory, 'openapi.json'), text);
});
afterAll(async () => {
  await services?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Returns the tool's report, whether or not it lists problems. */
async function callTool(program: string, words: string[], environment: Record<string, string> = {}): Promise<string> {
  const env = { HOME: directory, ...environment };
  const options = { cwd: directory, env, timeout: 170_000, maxBuffer: 64 << 20 };
  return run(program, words, options).then(
    ({ stdout }) => stdout,
    (error: Error & { stdout?: string }) => {
      if (error.stdout) return error.stdout;
      throw error;
    },
  );
}

// In PostHog's API, paths end with a slash. Millrace serves them with and without a slash.
(modules === null ? describe.skip : describe)('OpenAPI linters', () => {
  test('Spectral reports no problems except trailing slashes', async () => {
    await writeFile(join(directory, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
    const report = join(directory, 'spectral.json');
    await callTool(process.execPath, [`${modules}/.bin/spectral`, 'lint', 'openapi.json', '-f', 'json', '-o', report]);
    const problems: { code: string; message: string; path: string[] }[] = JSON.parse(await readFile(report, 'utf8'));
    const slashes = problems.filter(({ code }) => code === 'path-keys-no-trailing-slash');
    expect(slashes).toHaveLength(Object.keys(document.paths).length);
    expect(problems.filter((problem) => !slashes.includes(problem))).toEqual([]);
  });

  test('Redocly reports no problems except trailing slashes', async () => {
    const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const words = [`${modules}/.bin/redocly`, 'lint', 'openapi.json', '--format', 'json', '--max-problems', '10000'];
    const { problems }: { problems: { ruleId: string; message: string }[] } = JSON.parse(
      await callTool(process.execPath, words, quiet),
    );
    const slashes = problems.filter(({ ruleId }) => ruleId === 'no-path-trailing-slash');
    expect(slashes).toHaveLength(Object.keys(document.paths).length);
    expect(problems.filter((problem) => !slashes.includes(problem))).toEqual([]);
  });
});

(python === null ? describe.skip : describe)('openapi-python-client', () => {
  const listOperations = `
import importlib, pkgutil, millrace_client.api as api
for found in pkgutil.walk_packages(api.__path__, "millrace_client.api."):
    if hasattr(importlib.import_module(found.name), "sync_detailed"):
        print(found.name.rsplit(".", 1)[1])
`;

  test('the generator creates a client with every operation', async () => {
    await writeFile(join(directory, 'generator.yaml'), 'post_hooks: []\n');
    const words = ['--path', 'openapi.json', '--output-path', 'millrace_client', '--config', 'generator.yaml'];
    const output = await callTool(`${python}`, [
      ...['-c', 'from openapi_python_client.cli import app; app()', 'generate', '--meta', 'none', ...words],
    ]);
    expect(output).not.toMatch(/WARNING|ERROR/);
    const made = (await callTool(`${python}`, ['-c', listOperations])).trim().split('\n');
    const declared = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap(({ operationId }) => operationId ?? []),
    );
    expect(made.sort()).toEqual(declared.sort());
  });

  test('the generated client calls the API and parses errors', async () => {
    const program = await readFile(fileURLToPath(new URL('./use_client.py', import.meta.url)));
    await writeFile(join(directory, 'use_client.py'), program);
    const { apiUrl, tenant } = services;
    const output = await callTool(`${python}`, ['use_client.py'], {
      API_URL: apiUrl,
      API_KEY: tenant.personalApiKey,
      PROJECT_ID: String(tenant.projectId),
    });
    const calls: { call: string; status: number; type: string; body: Record<string, unknown> }[] = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(calls.map(({ call, status, type, body }) => [call, status, type, body?.attr ?? null])).toEqual([
      ['projects', 200, 'ProjectSummaryPage', null],
      ['far behind the last project', 200, 'ProjectSummaryPage', null],
      ['new environment', 201, 'Environment', null],
      ['time zone', 200, 'Environment', null],
      ['bad time zone', 400, 'Error', 'timezone'],
      ['new flag', 201, 'FeatureFlag', null],
      ['bad flag', 400, 'Error', 'key'],
      ['rollout', 200, 'FeatureFlag', null],
      ['flags', 200, 'FeatureFlagPage', null],
      ['events', 200, 'EventPage', null],
      ['oldest events', 200, 'EventPage', null],
      ['bad order', 400, 'Error', 'orderBy'],
      ['bad subscription', 400, 'Error', 'target_value'],
      ['cohort from a file', 201, 'Cohort', null],
      ['cohort of nothing', 201, 'Cohort', null],
      ['wrong key', 401, 'Error', null],
    ]);
    const bodyOf = (name: string) => calls.find(({ call }) => call === name)?.body;
    expect(bodyOf('projects')).toMatchObject({ results: [{ id: tenant.projectId }] });
    expect(bodyOf('far behind the last project')).toMatchObject({ count: 1, results: [] });
    expect(bodyOf('new environment')).toMatchObject({
      test_account_filters: [{ key: 'email', value: 'x' }],
      data_attributes: ['data-x'],
    });
    expect(bodyOf('time zone')).toMatchObject({ name: 'staging', timezone: 'Europe/Lisbon' });
    expect(bodyOf('flags')).toMatchObject({
      results: [{ key: 'generated', filters: { groups: [{ rollout_percentage: 30 }] } }],
    });
    expect(bodyOf('cohort from a file')).toMatchObject({ name: 'By file', is_static: true });
  });
});
