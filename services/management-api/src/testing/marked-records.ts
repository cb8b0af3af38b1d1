import { randomUUID } from 'node:crypto';
import { addMember, createPersonalApiKey, createUser } from '@millrace/accounts';
import { listProductFeatures, membershipLevels } from '@millrace/contracts';
import { createTestEnvironment, createTestOrganization, createTestProject } from '@millrace/testing';
import type { TestApi } from './start-test-api.ts';
import { createMonths, storeEvent, storeGroup, storePerson, storeWarning } from './stored-data.ts';

/**
 * An environment, organization or project with records of every kind. Its marker strings (IDs, tokens, names, email
 * addresses) occur nowhere else in the database, so a response that contains one of them has leaked one of these
 * records.
 */
export interface MarkedRecords {
  /** Strings that a response to a caller without access must not contain. */
  marks: string[];
  /** Record IDs by collection. The collection is the path segment before the ID, such as `subscriptions`. */
  records: Record<string, string>;
}

export interface MarkedEnvironment extends MarkedRecords {
  id: number;
  projectId: number;
}

export interface MarkedOrganization extends MarkedRecords {
  id: string;
  people: string[];
  membershipId: string;
}

export interface MarkedPerson {
  userId: number;
  uuid: string;
  marks: string[];
  key: string;
}

/** Raises the ID sequences to nine digits, because such a long number is unlikely to occur inside another number. */
export async function raiseIdSequences({ database: { sql } }: TestApi): Promise<void> {
  await sql.query(`SELECT setval('project_and_environment_id', 710000000), setval(pg_get_serial_sequence('"user"', 'id'), 720000000),
                          setval(pg_get_serial_sequence('subscription', 'id'), 730000000), setval(pg_get_serial_sequence('cohort', 'id'), 740000000),
                          setval(pg_get_serial_sequence('feature_flag', 'id'), 750000000), setval(pg_get_serial_sequence('insight', 'id'), 760000000),
                          setval(pg_get_serial_sequence('dashboard', 'id'), 770000000),
                          setval(pg_get_serial_sequence('annotation', 'id'), 780000000)`);
  await createMonths(sql, '2026-11', '2026-11');
}

/** Creates a user with marker strings. @param word a word that all strings of the user contain */
export async function markedPerson({ database: { sql } }: TestApi, word: string): Promise<MarkedPerson> {
  const user = await createUser(sql, { email: `person@${word}.example.com`, firstName: word, lastName: word });
  const { value } = await createPersonalApiKey(sql, {
    actor: null,
    userId: user.id,
    label: `${word} key`,
    scopes: ['*'],
  });
  return {
    userId: user.id,
    uuid: user.uuid,
    marks: [word, String(user.id), user.uuid, user.distinct_id],
    key: value,
  };
}

/**
 * Creates an organization with this owner, a colleague, an invite and a domain. All strings contain `word` or
 * `<word>people`.
 */
export async function markedOrganization(api: TestApi, word: string, owner: MarkedPerson): Promise<MarkedOrganization> {
  const organization = await createTestOrganization(api.database, {
    name: word,
    features: listProductFeatures('full'),
  });
  const path = `/api/organizations/${organization.id}`;
  await addMember(api.database.sql, {
    organizationId: organization.id,
    userId: owner.userId,
    level: membershipLevels.owner,
  });
  const colleague = await markedPerson(api, `${word}people`);
  const { id: membershipId } = await addMember(api.database.sql, {
    organizationId: organization.id,
    userId: colleague.userId,
  });
  const invite = await made(api, `${path}/invites/`, owner.key, {
    target_email: `invited@${word}people.example.com`,
    message: `${word}people`,
  });
  const domain = await made(api, `${path}/domains/`, owner.key, { domain: `${word}.example.com` });
  return {
    id: organization.id,
    membershipId,
    marks: [word, organization.id, organization.slug, domain.id, domain.verification_challenge],
    people: [...colleague.marks, membershipId, invite.id],
    records: { domains: domain.id, invites: invite.id, members: colleague.uuid, users: colleague.uuid },
  };
}

/** Creates a project with its first environment. All strings of both, such as their names, contain `words`. */
export async function markedProject(
  api: TestApi,
  owner: MarkedPerson,
  { organization, words }: { organization: MarkedOrganization; words: [string, string] },
): Promise<{ first: MarkedEnvironment; marks: string[] }> {
  const [projectWord, word] = words;
  const { project, environment } = await createTestProject(api.database, {
    organizationId: organization.id,
    name: projectWord,
  });
  return {
    first: await fill(api, owner, { environment, word }),
    marks: [projectWord, String(project.id)],
  };
}

export async function markedEnvironment(
  api: TestApi,
  owner: MarkedPerson,
  { projectId, word }: { projectId: number; word: string },
): Promise<MarkedEnvironment> {
  return fill(api, owner, { environment: await createTestEnvironment(api.database, { projectId }), word });
}

async function fill(
  api: TestApi,
  owner: MarkedPerson,
  {
    environment,
    word,
  }: { environment: { id: number; project_id: number; uuid: string; api_token: string }; word: string },
): Promise<MarkedEnvironment> {
  const { sql } = api.database;
  const { id, project_id: projectId, uuid, api_token: token } = environment;
  await sql.query('UPDATE environment SET name = $2 WHERE id = $1', [id, word]);
  const make = (path: string, body: object) => made(api, `/api/environments/${id}/${path}/`, owner.key, body);
  const subscription = await make('subscriptions', {
    target_type: 'email',
    target_value: `reports@${word}.example.com`,
    frequency: 'weekly',
    start_date: '2026-11-02T09:00:00Z',
    title: word,
  });
  const batchExport = await make('batch_exports', {
    name: word,
    interval: 'hour',
    destination: {
      type: 'Postgres',
      config: { host: `${word}.example.com`, database: word, user: word, password: word, table_name: word },
    },
  });
  const cohort = await make('cohorts', { name: word, is_static: true });
  const flag = await make('feature_flags', { key: word, name: word });
  const feature = await make('early_access_feature', { name: `${word}feature`, stage: 'beta' });
  const dashboard = await make('dashboards', { name: word });
  const insight = await make('insights', {
    name: word,
    tags: [word],
    query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: word }] },
    dashboards: [dashboard.id],
  });
  await sql.query(
    `INSERT INTO sharing_configuration (environment_id, insight_id, enabled, access_token) VALUES ($1, $2, true, $3)`,
    [id, insight.id, `${word}-token`],
  );
  const variable = await make('insight_variables', { name: word, type: 'String' });
  const annotation = await make('annotations', { content: word, scope: 'dashboard', dashboard_id: dashboard.id });
  const eventDefinition = await make('event_definitions', { name: word });
  const propertyDefinition = await noticedProperty(api, id, { name: word, key: owner.key });
  const person = await storePerson(sql, id, { distinctIds: [`${word}-id`], properties: { email: `a@${word}.com` } });
  const event = await storeEvent(sql, id, { event: word, distinctId: `${word}-id`, personId: person });
  await storeGroup(sql, id, { type: word, index: 0, key: word });
  const warning = await storeWarning(sql, id, { details: { word } });
  return {
    id,
    projectId,
    // The ID is not a marker string. The first environment has the ID of its project, so callers with access only to
    // the second environment can see this ID.
    marks: [
      word,
      uuid,
      token,
      subscription.id,
      batchExport.id,
      cohort.id,
      flag.id,
      dashboard.id,
      insight.id,
      insight.short_id,
      annotation.id,
      variable.id,
      eventDefinition.id,
      propertyDefinition,
      person,
      event,
      warning,
      ...(id === projectId ? [] : [id]),
    ].map(String),
    records: {
      subscriptions: String(subscription.id),
      batch_exports: batchExport.id,
      cohorts: String(cohort.id),
      feature_flags: String(flag.id),
      dashboards: String(dashboard.id),
      insights: String(insight.id),
      early_access_feature: feature.id,
      annotations: String(annotation.id),
      insight_variables: variable.id,
      event_definitions: eventDefinition.id,
      property_definitions: propertyDefinition,
      persons: person,
      events: event,
      ingestion_warnings: warning,
      runs: randomUUID(),
    },
  };
}

async function noticedProperty(
  api: TestApi,
  id: number,
  { name, key }: { name: string; key: string },
): Promise<string> {
  await api.database.sql.query(
    'INSERT INTO property_definition (project_id, type, name, last_seen_at) VALUES ($1, 1, $2, now())',
    [id, name],
  );
  return (await api.get(`/api/environments/${id}/property_definitions/`, key)).body.results[0].id;
}

async function made(api: TestApi, path: string, key: string, body: object) {
  const response = await api.send('POST', path, { key, body });
  if (response.status !== 201)
    throw new Error(`${path} responded with ${response.status}: ${JSON.stringify(response.body)}`);
  return response.body;
}
