import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestTenant, testSeed } from '@millrace/testing';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { installOrNull, installPythonTool } from '../testing/install-tools.ts';

/**
 * Generates requests for every declared route. No response may have a 5xx status, or a status or body that the OpenAPI
 * document does not declare.
 */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/**
 * These operations would delete the key or the records that all other requests use, and the other requests would then
 * receive only 401 or 404. The operations run with a separate tenant, and each operation deletes a separate record.
 */
const deletingOperations =
  '^(personal_api_keys_(destroy|roll|partial_update)|' +
  '(organizations|organizations_members|organizations_projects|projects|projects_environments|environments)_destroy)$';

/** Excludes streams, which never end, and test events, which need a gateway that this API does not have. */
const excludedOperations = '^(environments_)?(live_events_stream|live_events_by_token|test_event_create)$';

const requirements = new URL('./schemathesis.txt', import.meta.url);
const python = await installOrNull('Schemathesis', () => installPythonTool('schemathesis', requirements));

(python === null ? describe.skip : describe)('the management API and its OpenAPI document', () => {
  let services: RunningServices;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'millrace-schemathesis-'));
    services = await startServices({ eventLog: 'postgres', settings: { DNS_SERVERS: '127.0.0.1:9' } });
  });
  afterAll(async () => {
    await services?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('the API and its OpenAPI document agree on every generated request', async () => {
    const { organizationId, projectId, personalApiKey } = services.tenant;
    // Use existing IDs, because requests with random IDs would only receive 404. The key is in a file, because other
    // users can read a process's arguments.
    const config = join(directory, 'schemathesis.toml');
    await writeFile(
      config,
      [
        `headers = { Authorization = "Bearer ${personalApiKey}" }`,
        '[parameters]',
        `"path.organization_id" = "${organizationId}"`,
        `"path.project_id" = ${projectId}`,
      ].join('\n'),
      { mode: 0o600 },
    );
    const { code, output } = await generate(config, 40, [
      '--exclude-operation-id-regex',
      `${deletingOperations}|${excludedOperations}`,
    ]);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    // Check that the key still works. If a request had revoked the key, all requests after it would have been useless.
    const still = await fetch(`${services.apiUrl}/api/projects/${projectId}/`, {
      headers: { authorization: `Bearer ${personalApiKey}` },
    });
    expect(still.status).toBe(200);
  });

  test('operations that delete a record follow the OpenAPI document, and delete the record', async () => {
    const { apiUrl, databaseUrl, database } = services;
    const tenant = await createTestTenant(databaseUrl);
    const { organizationId } = tenant;
    const headers = { authorization: `Bearer ${tenant.personalApiKey}`, 'content-type': 'application/json' };
    const make = async (path: string, body: object): Promise<string> => {
      const response = await fetch(`${apiUrl}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([path, response.status]).toEqual([path, 201]);
      return String(((await response.json()) as { id: unknown }).id);
    };
    const project = () => make(`organizations/${organizationId}/projects/`, { name: 'To be removed' });
    const environment = () => make(`projects/${tenant.projectId}/environments/`, { name: 'To be removed' });
    const key = () => make('personal_api_keys/', { label: 'To be changed', scopes: ['project:read'] });
    const places: Record<string, Record<string, string>> = {
      projects_destroy: { id: await project() },
      organizations_projects_destroy: { id: await project() },
      environments_destroy: { id: await environment() },
      projects_environments_destroy: { id: await environment() },
      organizations_members_destroy: { user__uuid: await createMember(database, organizationId) },
      personal_api_keys_destroy: { id: await key() },
      personal_api_keys_roll: { id: await key() },
      personal_api_keys_partial_update: { id: await key() },
    };
    const config = join(directory, 'taking-away.toml');
    const common = [
      `headers = { Authorization = "Bearer ${tenant.personalApiKey}" }`,
      '[parameters]',
      `"path.organization_id" = "${organizationId}"`,
      `"path.project_id" = ${tenant.projectId}`,
    ];
    const own = Object.entries(places).flatMap(([operation, parameters]) => [
      '[[operations]]',
      `include-operation-id = "${operation}"`,
      `parameters = { ${Object.entries(parameters)
        .map(([name, value]) => `"path.${name}" = ${/^\d+$/.test(value) ? value : `"${value}"`}`)
        .join(', ')} }`,
    ]);
    await writeFile(config, [...common, ...own].join('\n'), { mode: 0o600 });
    const all = await generate(config, 20, [
      '--include-operation-id-regex',
      deletingOperations,
      '--exclude-operation-id',
      'organizations_destroy',
    ]);
    expect({ code: all.code, output: all.code === 0 ? '' : all.output }).toEqual({ code: 0, output: '' });
    const statusOf = async (path: string) => (await fetch(`${apiUrl}/api/${path}`, { headers })).status;
    for (const operation of ['projects_destroy', 'organizations_projects_destroy']) {
      expect([operation, await statusOf(`projects/${places[operation]?.id}/`)]).toEqual([operation, 404]);
    }
    for (const operation of ['environments_destroy', 'projects_environments_destroy']) {
      expect([operation, await statusOf(`environments/${places[operation]?.id}/`)]).toEqual([operation, 404]);
    }
    expect(await statusOf(`personal_api_keys/${places.personal_api_keys_destroy?.id}/`)).toBe(404);
    expect(await statusOf(`personal_api_keys/${places.personal_api_keys_roll?.id}/`)).toBe(200);
    // Delete the organization last, because all other records belong to it.
    await writeFile(config, common.join('\n'), { mode: 0o600 });
    const last = await generate(config, 8, ['--include-operation-id', 'organizations_destroy']);
    expect({ code: last.code, output: last.code === 0 ? '' : last.output }).toEqual({ code: 0, output: '' });
    expect(await statusOf(`organizations/${organizationId}/`)).toBe(404);
  }, 400_000);

  function generate(config: string, seconds: number, which: string[]) {
    return run([
      ...['-m', 'schemathesis.cli', '--config-file', config, 'run', `${services.apiUrl}/api/schema/`],
      ...['--checks', checks.join(','), '--phases', 'examples,fuzzing', '--max-examples', '3'],
      ...[
        '--max-time',
        `${seconds}`,
        '--seed',
        `${testSeed(1)}`,
        '--no-shrink',
        // A busy machine may respond slowly, so do not report slow responses as failures.
        ...['--request-timeout', '60', '--suppress-health-check', 'too_slow'],
        '--continue-on-failure',
        '--warnings',
        'off',
      ],
      ...which,
    ]);
  }

  function run(words: readonly string[]): Promise<{ code: number; output: string }> {
    return new Promise((resolve) => {
      const options = { cwd: directory, env: { HOME: directory }, timeout: 170_000, maxBuffer: 64 << 20 };
      const child = execFile(`${python}`, words, options, (error, out, err) => {
        resolve({ code: error === null ? 0 : (child.exitCode ?? 1), output: (out + err).slice(-20_000) });
      });
    });
  }
});

/** Creates a member, whom a generated request then removes. @returns the user's UUID */
async function createMember(database: RunningServices['database'], organizationId: string): Promise<string> {
  const uuid = randomUUID();
  await database.query(
    `WITH made AS (
       INSERT INTO "user" (uuid, distinct_id, email, first_name, last_name) VALUES ($1, $2, $3, '', '') RETURNING id
     ) INSERT INTO membership (id, organization_id, user_id) SELECT gen_random_uuid(), $4, id FROM made`,
    [uuid, randomUUID(), `${uuid}@example.com`, organizationId],
  );
  return uuid;
}
