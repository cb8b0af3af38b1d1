import { randomUUID } from 'node:crypto';
import type { PlantedMarks } from './planted-marks.ts';
import { sendIgnoringFailure } from './send-to-ingest.ts';
import type { DebugServices } from './start-debug-services.ts';

/** Sends an administrator's requests and unauthorized attempts, with marks in all secret and personal values. */
export async function sendToApi({ apiUrl, tenant }: DebugServices, marks: PlantedMarks): Promise<void> {
  const organization = `/api/organizations/${tenant.organizationId}`;
  const project = `/api/projects/${tenant.projectId}`;
  const send = async (method: string, path: string, body?: unknown, key = tenant.personalApiKey) => {
    const response = await sendIgnoringFailure(apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = response === null ? '' : await response.text().catch(() => '');
    return { status: response?.status ?? 0, body: parsed(text) };
  };
  const address = (name: string) => `${marks.plant(name)}@example.com`;
  const postgres = () => ({
    type: 'Postgres',
    config: {
      host: '127.0.0.1',
      port: 1,
      database: 'warehouse',
      user: marks.plant('the user of an export'),
      password: marks.plant('the password of an export'),
    },
  });
  const s3 = () => ({
    type: 'S3',
    config: {
      bucket_name: 'b',
      region: 'us-east-1',
      prefix: 'p/',
      endpoint_url: 'http://127.0.0.1:1',
      aws_access_key_id: marks.plant('the access key of an export'),
      aws_secret_access_key: marks.plant('the secret of an export'),
    },
  });
  const subscription = (more: object) => ({
    title: 'Weekly',
    frequency: 'daily',
    interval: 1,
    start_date: '2026-01-01T00:00:00Z',
    ...more,
  });

  async function useKeys(): Promise<void> {
    const key = await send('POST', '/api/personal_api_keys/', {
      label: marks.plant('a label'),
      scopes: ['project:read'],
    });
    if (typeof key.body.value !== 'string') return;
    marks.keep('a key that was made', key.body.value);
    await send('GET', `${organization}/projects/`, undefined, key.body.value);
    await send('POST', `${organization}/projects/`, { name: 'Not with this key' }, key.body.value);
    const rolled = await send('POST', `/api/personal_api_keys/${key.body.id}/roll/`);
    if (typeof rolled.body.value === 'string') marks.keep('a key that was rolled', rolled.body.value);
  }
  async function useExport(destination: object): Promise<void> {
    const made = await send('POST', `${project}/batch_exports/`, { name: 'Export', destination, interval: 'hour' });
    await send('POST', `${project}/batch_exports/`, { name: 5, destination, interval: 'never' });
    if (typeof made.body.id !== 'string') return;
    await send('PATCH', `${project}/batch_exports/${made.body.id}/`, { destination: postgres() });
    await send('POST', `${organization}/batch_exports/${made.body.id}/pause/`, { destination });
    await send('POST', `${organization}/batch_exports/${made.body.id}/unpause/`, {});
  }
  const wrongKeys = [`phx_${marks.plant('a wrong key')}`, marks.plant('no key'), tenant.projectApiKey];
  const targets: [type: string, value: string][] = [
    ['email', address('the address of a subscription')],
    ['webhook', `http://127.0.0.1:1/hook/${marks.plant('the secret of a webhook')}`],
    ['webhook', `http://${marks.plant('a host of a webhook')}.invalid/hook`],
    ['slack', `http://127.0.0.1:1/services/${marks.plant('the secret of a Slack webhook')}`],
    ['email', marks.plant('a wrong address of a subscription')],
  ];
  const subscriptions = `/api/environments/${tenant.projectId}/subscriptions/`;
  const token = marks.plant('the secret of a link');
  await Promise.all([
    useKeys(),
    useExport(postgres()),
    useExport(s3()),
    ...wrongKeys.map((key) => send('GET', `${organization}/projects/`, undefined, key)),
    send('POST', `${organization}/invites/`, {
      target_email: address('the address of an invite'),
      first_name: marks.plant('the name of somebody invited'),
      message: marks.plant('the message of an invite'),
    }),
    send('POST', `${organization}/invites/bulk/`, [{ target_email: address('an address of a bulk') }]),
    send('POST', `${organization}/invites/`, { target_email: marks.plant('a wrong address') }),
    send('POST', `${organization}/invites/`, `{"target_email":"${marks.plant('broken JSON for the API')}`),
    send('POST', `/api/signup/${randomUUID()}/look/`, { token }),
    send('POST', `/api/signup/${randomUUID()}/`, { first_name: marks.plant('who signs up'), token }),
    send('PATCH', '/api/users/@me/', { first_name: marks.plant('a first name') }),
    send('PATCH', '/api/users/@me/', { email: address('a new address') }),
    send('POST', '/api/organizations/', { name: marks.plant('the name of an organization') }),
    ...targets.map(([target_type, target_value]) =>
      send('POST', subscriptions, subscription({ target_type, target_value })),
    ),
    send('PATCH', `${project}/environments/${tenant.projectId}/`, {
      slack_incoming_webhook: `http://127.0.0.1:1/${marks.plant('the Slack webhook of a project')}`,
      session_recording_linked_flag: marks.plant('a wrong setting'),
    }),
    send('POST', `${organization}/domains/`, {
      domain: 'example.com',
      saml_x509_cert: marks.plant('a certificate'),
      saml_entity_id: 'x',
      saml_acs_url: 'https://example.com/',
    }),
    send('GET', `${project}/persons/?search=${marks.plant('what was searched for')}`),
    send('GET', `${project}/events/?distinct_id=${address('a filter')}&after=${marks.plant('a wrong date')}`),
    send('GET', `/api/nothing/${marks.plant('a path of the API')}/`),
  ]);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
