import { addMember, createPersonalApiKey } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import {
  type MarkedEnvironment,
  type MarkedOrganization,
  markedEnvironment,
  markedOrganization,
  markedPerson,
  markedProject,
  raiseIdSequences,
} from './marked-records.ts';
import { signInAs, type TestApi } from './start-test-api.ts';

/**
 * A caller with its key, the organizations and environments that the key can access, and the strings that responses
 * must not contain.
 */
export interface Actor {
  key: string;
  userId: number;
  isLimited: boolean;
  /** Organizations and environments whose routes can accept this actor's writes. All other routes must reject them. */
  organizations: string[];
  environments: number[];
  /** Marker strings of all records that the actor cannot access. */
  hidden: string[];
}

export interface Address {
  /** True if the records in the path belong to a different organization or environment than the one in the path. */
  isForeignRecord?: true;
  organization: string;
  environment: number | string;
  project: number | string;
  records: Record<string, string>;
  membershipId: string;
}

export interface ReachFixture {
  actors: Map<string, Actor>;
  environments: number[];
  organizations: string[];
  /** Three kinds of paths: with IDs, with `@current`, and with records of a different organization or environment. */
  addressKinds: Address[][];
}

/** Names of the actors. The actor with the most permissions comes last. */
export const actorNames = [
  'a stranger',
  'a member',
  'a member who is signed in',
  'a key for a later environment',
  'a key for a later environment of one organization',
  'a key for a first environment',
  'a key for one organization',
  'a key for the other organization',
  'a key for everything',
] as const;
type ActorName = (typeof actorNames)[number];

const full = { scopedEnvironments: [], scopedOrganizations: [] };

/**
 * Creates a user with a key for each kind of access in two organizations, a colleague without access to one project,
 * and a stranger. The user's first organization has a project with two environments, and a private project. All other
 * organizations have one project each.
 */
export async function createReachFixture(api: TestApi): Promise<ReachFixture> {
  const tenants = await createTenants(api);
  const actors = await createActors(api, tenants);
  const { near, other, far, first, later, shut, ofOther, ofFar } = tenants;
  const addresses = [
    addressOf(near, first),
    addressOf(near, later),
    addressOf(near, shut.first),
    addressOf(other, ofOther.first),
    addressOf(far, ofFar.first),
  ];
  return {
    actors: new Map(Object.entries(actors)),
    environments: [first, later, shut.first, ofOther.first, ofFar.first].map(({ id }) => id),
    organizations: [near, other, far].map(({ id }) => id),
    addressKinds: [addresses, addresses.map(byCurrent), mixed(addresses)],
  };
}

type Tenants = Awaited<ReturnType<typeof createTenants>>;

async function createTenants(api: TestApi) {
  await raiseIdSequences(api);
  const [person, member, stranger] = await Promise.all([
    markedPerson(api, 'wordperson'),
    markedPerson(api, 'wordmember'),
    markedPerson(api, 'wordstranger'),
  ]);
  const near = await markedOrganization(api, 'wordnear', person);
  const other = await markedOrganization(api, 'wordother', person);
  const far = await markedOrganization(api, 'wordfar', stranger);
  await addMember(api.database.sql, { organizationId: near.id, userId: member.userId, level: membershipLevels.member });
  const { first, ...project } = await markedProject(api, person, {
    organization: near,
    words: ['wordpro', 'wordfirst'],
  });
  const later = await markedEnvironment(api, person, { projectId: first.projectId, word: 'wordlater' });
  const shut = await markedProject(api, person, { organization: near, words: ['wordproshut', 'wordshut'] });
  const ofOther = await markedProject(api, person, { organization: other, words: ['wordproother', 'wordoneother'] });
  const ofFar = await markedProject(api, stranger, { organization: far, words: ['wordprofar', 'wordonefar'] });
  await api.database.sql.query('UPDATE environment SET access_control = true WHERE id = $1', [shut.first.id]);
  // Make these environments the current ones. Otherwise, the tests would not notice that `@current` gives access to a
  // limited key, or to a user who has lost access.
  await putInto(api, person.userId, other, ofOther.first);
  await putInto(api, member.userId, near, shut.first);
  return { person, member, stranger, near, other, far, project, first, later, shut, ofOther, ofFar };
}

async function createActors(api: TestApi, tenants: Tenants): Promise<Record<ActorName, Actor>> {
  const { person, member, stranger, near, other, far, project, first, later, shut, ofOther, ofFar } = tenants;
  const inFar = [...far.marks, ...far.people, ...ofFar.marks, ...ofFar.first.marks, ...stranger.marks];
  const inOther = [...other.marks, ...other.people, ...ofOther.marks, ...ofOther.first.marks];
  const inShut = [...shut.marks, ...shut.first.marks];
  const inNear = [...near.marks, ...near.people, ...project.marks, ...first.marks, ...later.marks];
  const beyondProject = [...inFar, ...inOther, ...inShut, ...near.people];
  const keyFor = async (limits: { scopedEnvironments?: number[]; scopedOrganizations?: string[] }) => {
    const input = { ...full, ...limits, userId: person.userId, label: 'small', scopes: ['*' as const] };
    return {
      key: (await createPersonalApiKey(api.database.sql, { ...input, actor: null })).value,
      userId: person.userId,
      isLimited: true,
      organizations: limits.scopedEnvironments ? [] : (limits.scopedOrganizations ?? []),
    };
  };
  const toLater = { environments: [later.id], hidden: [...beyondProject, ...first.marks] };
  return {
    'a stranger': {
      ...{ key: stranger.key, userId: stranger.userId, isLimited: false },
      ...{ organizations: [far.id], environments: [ofFar.first.id] },
      hidden: [...inNear, ...inOther, ...inShut, ...person.marks, ...member.marks],
    },
    'a member': {
      ...{ key: member.key, userId: member.userId, isLimited: false },
      ...{ organizations: [near.id], environments: [first.id, later.id] },
      hidden: [...inFar, ...inOther, ...inShut],
    },
    'a member who is signed in': {
      ...{ key: await signInAs(api, member.userId), userId: member.userId, isLimited: false },
      ...{ organizations: [near.id], environments: [first.id, later.id] },
      hidden: [...inFar, ...inOther, ...inShut],
    },
    'a key for a later environment': { ...(await keyFor({ scopedEnvironments: [later.id] })), ...toLater },
    'a key for a later environment of one organization': {
      ...(await keyFor({ scopedEnvironments: [later.id], scopedOrganizations: [near.id] })),
      ...toLater,
    },
    'a key for a first environment': {
      ...(await keyFor({ scopedEnvironments: [first.id] })),
      environments: [first.id],
      hidden: [...beyondProject, ...later.marks],
    },
    'a key for one organization': {
      ...(await keyFor({ scopedOrganizations: [near.id] })),
      environments: [first.id, later.id, shut.first.id],
      hidden: [...inFar, ...inOther],
    },
    'a key for the other organization': {
      ...(await keyFor({ scopedOrganizations: [other.id] })),
      environments: [ofOther.first.id],
      hidden: [...inFar, ...inNear, ...inShut],
    },
    'a key for everything': {
      ...{ key: person.key, userId: person.userId, isLimited: false },
      organizations: [near.id, other.id],
      environments: [first.id, later.id, shut.first.id, ofOther.first.id],
      hidden: inFar,
    },
  };
}

async function putInto(
  { database: { sql } }: TestApi,
  userId: number,
  organization: MarkedOrganization,
  environment: MarkedEnvironment,
): Promise<void> {
  await sql.query('UPDATE "user" SET current_organization_id = $2, current_environment_id = $3 WHERE id = $1', [
    userId,
    organization.id,
    environment.id,
  ]);
}

function addressOf(organization: MarkedOrganization, environment: MarkedEnvironment): Address {
  return {
    organization: organization.id,
    environment: environment.id,
    project: environment.projectId,
    records: { ...organization.records, ...environment.records },
    membershipId: organization.membershipId,
  };
}

const byCurrent = (address: Address): Address => ({
  ...address,
  organization: '@current',
  environment: '@current',
  project: '@current',
});

function mixed([, own, , ...foreign]: Address[]): Address[] {
  return foreign.map(({ records, membershipId }) => ({
    ...(own as Address),
    records,
    membershipId,
    isForeignRecord: true,
  }));
}
