import { addMember, createPersonalApiKey } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import { createTestEnvironment } from '@millrace/testing';
import { type Actor, createActor, createActors } from './organization-actors.ts';
import type { TestApi } from './start-test-api.ts';
import { createMonths, storeEvent, storeGroup, storePerson } from './stored-data.ts';

/** Two records of every kind, so that every list parameter can have a visible effect. */
export interface SampleRecords {
  key: string;
  userId: number;
  member: Actor;
  organizationId: string;
  projectId: number;
  /** IDs of the second record in each collection. The key is the path segment before the ID. */
  ids: Record<string, string>;
  create(path: string, body: object): Promise<Record<string, unknown>>;
}

export const sampleExport = {
  name: 'Export',
  interval: 'hour',
  destination: {
    type: 'Postgres',
    config: { host: 'w.example.com', database: 'd', user: 'u', password: 'p', table_name: 't' },
  },
};
export const sampleSubscription = {
  target_type: 'email',
  target_value: 'ada@example.com',
  frequency: 'weekly',
  start_date: '2026-11-02T09:00:00Z',
};
export const sampleQuery = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'visit' }] };

export async function createSampleRecords(api: TestApi): Promise<SampleRecords> {
  const { sql } = api.database;
  await createMonths(sql, '2026-11', new Date().toISOString().slice(0, 7));
  const { organizationId, projectId, W, M, off } = await createActors(api.database);
  await addMember(sql, { organizationId: off.organizationId, userId: W.userId, level: membershipLevels.owner });
  await createTestEnvironment(api.database, { projectId });
  const { value: key } = await createPersonalApiKey(sql, {
    ...{ actor: null, userId: W.userId, label: 'All', scopes: ['*'] },
  });

  async function create(path: string, body: object) {
    const response = await api.send('POST', `${path}/`, { key, body });
    if (response.status >= 300)
      throw new Error(`POST ${path} responded with ${response.status}: ${JSON.stringify(response.body)}`);
    return response.body;
  }
  const organization = `/api/organizations/${organizationId}`;
  const project = `/api/projects/${projectId}`;
  const ids: Record<string, string> = {
    organizations: organizationId,
    projects: String(projectId),
    environments: String(projectId),
    members: M.uuid,
  };
  const two = async (kind: string, path: string, bodies: [object, object]) => {
    for (const body of bodies) ids[kind] = String((await create(path, body)).id);
  };
  await create(`${organization}/projects`, { name: 'Second' });
  await two('domains', `${organization}/domains`, [{ domain: 'a.example' }, { domain: 'b.example' }]);
  await two('invites', `${organization}/invites`, [{ target_email: 'a@x.example' }, { target_email: 'b@x.example' }]);
  await two('roles', `${organization}/roles`, [{ name: 'One' }, { name: 'Two' }]);
  for (const { uuid } of [M, await createActor(api.database, organizationId, membershipLevels.member)])
    await create(`${organization}/roles/${ids.roles}/role_memberships`, { user_uuid: uuid });
  await two('subscriptions', `${project}/subscriptions`, [sampleSubscription, sampleSubscription]);
  await two('batch_exports', `${project}/batch_exports`, [sampleExport, sampleExport]);
  await two('cohorts', `${project}/cohorts`, [
    { name: 'A', is_static: true },
    { name: 'B', is_static: true },
  ]);
  await two('feature_flags', `${project}/feature_flags`, [
    { key: 'a', evaluation_runtime: 'server', evaluation_contexts: ['web'], tags: ['one'], active: false },
    { key: 'b' },
  ]);
  await create(`${project}/feature_flags`, {
    key: 'c',
    is_remote_configuration: true,
    filters: { payloads: { true: '1' } },
  });
  await api.send('PATCH', `${project}/feature_flags/${ids.feature_flags}/`, { key, body: { name: 'Changed' } });
  await two('early_access_feature', `${project}/early_access_feature`, [
    { name: 'First feature', stage: 'beta' },
    { name: 'Second feature', stage: 'beta' },
  ]);
  await two('dashboards', `${project}/dashboards`, [{ name: 'A' }, { name: 'B', filters: { date_from: '-30d' } }]);
  await two('insights', `${project}/insights`, [
    { name: 'A', query: sampleQuery },
    { name: 'B', query: sampleQuery, dashboards: [Number(ids.dashboards)] },
  ]);
  await two('insight_variables', `${project}/insight_variables`, [
    { name: 'A', type: 'String' },
    { name: 'B', type: 'String' },
  ]);
  await two('annotations', `${project}/annotations`, [
    { content: 'A', scope: 'project' },
    { content: 'B', scope: 'project' },
  ]);
  for (const [at, name] of ['ann', 'bob'].entries()) {
    const properties = { email: `${name}@example.com`, plan: name };
    ids.persons = await storePerson(sql, projectId, { distinctIds: [name], properties });
    const timestamp = new Date(Date.now() - (at + 1) * 3_600_000).toISOString();
    const event = { event: at === 0 ? 'visit' : 'buy', distinctId: name, personId: ids.persons, properties };
    ids.events = await storeEvent(sql, projectId, { ...event, timestamp });
    await storeGroup(sql, projectId, { type: 'company', index: 0, key: name });
  }
  await storeGroup(sql, projectId, { type: 'team', index: 1, key: 'red' });
  await api.send('PATCH', `${project}/cohorts/${ids.cohorts}/add_persons_to_static_cohort/`, {
    key,
    body: { person_ids: [ids.persons] },
  });
  await storeDefinitions(api, projectId);
  return { key, userId: W.userId, member: M, organizationId, projectId, ids, create };
}

async function storeDefinitions({ database: { sql } }: TestApi, projectId: number): Promise<void> {
  await sql.query(
    `INSERT INTO event_definition (project_id, name, last_seen_at) SELECT $1, unnest($2::text[]), now()`,
    [projectId, ['visit', 'buy']],
  );
  await sql.query(
    `INSERT INTO property_definition (project_id, type, name, last_seen_at) SELECT $1, 1, unnest($2::text[]), now()`,
    [projectId, ['plan', 'email', '$browser', '$feature/a']],
  );
}
