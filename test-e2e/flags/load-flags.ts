import { eventually, type TestTenant } from '@millrace/testing';
import { createManagementClient } from '../support/management-client.ts';
import { post } from '../support/post.ts';
import type { RunningServices } from '../support/start-services.ts';
import { callApi, listOperators } from './call-api.ts';
import type { CaseDocument, CaseFilter, CaseFlag } from './flag-cases.ts';
import { sortByDependency } from './in-dependency-order.ts';
import { storeCohort, storeFilters, storeFlag } from './store-without-api.ts';

/** Flags and cohorts that the API rejects, grouped by the error. The tests write them directly to the database. */
export type ApiRejections = Record<string, string[]>;

interface Loading {
  services: RunningServices;
  tenant: TestTenant;
  document: CaseDocument;
  staticCohorts: Record<string, string[]>;
}

/** Creates a document's flags in a project, as an administrator would, and waits until they can be evaluated. */
export async function loadFlags(loading: Loading): Promise<ApiRejections> {
  const rejections: ApiRejections = {};
  await makeGroupTypesAndPersons(loading);
  const cohortIds = await makeCohorts(loading, rejections);
  await makeFlags(loading, cohortIds, rejections);
  const last = loading.document.flags.findLast(({ active }) => active)?.key ?? '';
  await eventually(async () => {
    const { body } = await post(`${loading.services.ingestUrl}/flags?v=2`, {
      token: loading.tenant.projectApiKey,
      distinct_id: 'anybody',
    });
    expect(body.flags).toHaveProperty(last);
  });
  return rejections;
}

/**
 * Creates group types and persons by sending events, because there is no other way. Members of static cohorts are
 * persons without properties.
 */
async function makeGroupTypesAndPersons({ services, tenant, document, staticCohorts }: Loading): Promise<void> {
  const groupTypes = Object.values(document.group_type_mapping);
  const members = Object.values(staticCohorts).flat();
  const api = createManagementClient({ ...services, tenant });
  await post(`${services.ingestUrl}/batch`, {
    api_key: tenant.projectApiKey,
    batch: [
      ...groupTypes.map((type) => ({
        event: '$groupidentify',
        distinct_id: 'administrator',
        properties: { $group_type: type, $group_key: 'first' },
      })),
      ...members.map((distinct_id) => ({ event: 'seen', distinct_id })),
    ],
  });
  await eventually(async () => {
    expect((await api.groups()).length).toBe(groupTypes.length);
    expect((await api.events({ event: 'seen' })).length).toBe(members.length);
  });
}

/** @returns the cohorts' IDs, by the name in the document */
async function makeCohorts(loading: Loading, rejections: ApiRejections): Promise<Map<string, number>> {
  const { tenant, services, document, staticCohorts } = loading;
  const ids = new Map<string, number>();
  const caller = { ...services, ...tenant };
  const persons = createManagementClient({ ...services, tenant });
  for (const [name, tree] of Object.entries(document.cohorts)) {
    const filters = { properties: withCohortIds(tree, ids) };
    const made = await callApi(caller, 'POST', 'cohorts/', { name, filters });
    ids.set(name, made.id ?? (await storeCohort(services.database, tenant.projectId, { name, filters })));
    if (made.refused !== null) addRejection(rejections, made.refused, `cohort ${name}`);
  }
  for (const [name, members] of Object.entries(staticCohorts)) {
    const { id } = await callApi(caller, 'POST', 'cohorts/', { name, is_static: true });
    const found = await Promise.all(members.map((distinct_id) => persons.persons({ distinct_id })));
    const added = await callApi(caller, 'PATCH', `cohorts/${id}/add_persons_to_static_cohort/`, {
      person_ids: found.flat().map(({ uuid }) => uuid),
    });
    expect({ id, ...added }).toEqual({ id: expect.any(Number), refused: null });
    ids.set(name, Number(id));
  }
  return ids;
}

async function makeFlags(loading: Loading, cohortIds: Map<string, number>, rejections: ApiRejections): Promise<void> {
  const { services, tenant } = loading;
  const caller = { ...services, ...tenant };
  const ids = new Map<string, number>();
  const past: CaseFlag[] = [];
  for (const flag of sortByDependency(loading.document.flags)) {
    const requested = { ...flag, filters: storedFilters(flag, ids, cohortIds) };
    const { id, refused, operators } = await callApi(caller, 'POST', 'feature_flags/', requested);
    ids.set(flag.key, id ?? (await storeFlag(services.database, tenant.projectId, flag)));
    const isRewritten = refused === null && operators !== listOperators(requested.filters);
    if (refused === null && !isRewritten) continue;
    addRejection(rejections, refused ?? 'An operator is written in another way', flag.key);
    past.push(flag);
  }
  // Last, store the filters that the API rejected or rewrote, because they contain the IDs of other flags.
  for (const flag of past) {
    await storeFilters(services.database, Number(ids.get(flag.key)), storedFilters(flag, ids, cohortIds));
  }
}

/**
 * Returns a flag's filters as stored, with the IDs of flags and cohorts. A missing flag or cohort gets an ID that does
 * not exist.
 */
function storedFilters({ filters }: CaseFlag, flagIds: Map<string, number>, cohortIds: Map<string, number>) {
  const toStored = ({ dependency_chain: _, ...filter }: CaseFilter & { dependency_chain?: unknown }) => {
    if (filter.type === 'flag') return { ...filter, key: String(flagIds.get(filter.key) ?? 999_999_999) };
    if (filter.type === 'cohort') return { ...filter, value: cohortIds.get(String(filter.value)) ?? 999_999_999 };
    return filter;
  };
  const groups = filters.groups.map((group) => ({ ...group, properties: (group.properties ?? []).map(toStored) }));
  return { ...filters, groups };
}

function withCohortIds(node: unknown, ids: Map<string, number>): unknown {
  if (Array.isArray(node)) return node.map((member) => withCohortIds(member, ids));
  if (typeof node !== 'object' || node === null) return node;
  if ('type' in node && node.type === 'cohort' && 'value' in node) {
    return { ...node, value: ids.get(String(node.value)) };
  }
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, withCohortIds(value, ids)]));
}

/** Adds a rejected flag or cohort to the list for the API's error. Values and numbers in the error are removed. */
function addRejection(rejections: ApiRejections, refused: string, what: string): void {
  const reason = refused.replace(/(?<=[:.]) .*$|'.*'|\d+/gs, '…');
  rejections[reason] = [...(rejections[reason] ?? []), what];
}
