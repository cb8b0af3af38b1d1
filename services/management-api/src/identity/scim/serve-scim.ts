// Serves SCIM over HTTP: authenticates requests by their token, finds the resource, and sends responses and errors in
// SCIM format.

import type { ServerResponse } from 'node:http';
import {
  changeProvisionedUser,
  changeRoleMembers,
  createRole,
  findScimUser,
  listRoleHoldersInDomain,
  listScimUsers,
  parseEmailAddress,
  provisionUser,
  removeProvisionedUser,
  removeRole,
  renameRole,
  requireRoleWithinDomain,
  type ScimDomain,
  type ScimUser,
} from '@millrace/accounts';
import type { Database, Sql, Transaction } from '@millrace/db';
import type { ApiRequest, PageContext, PageRoute } from '@millrace/http';
import { AppError, isAppError, type Logger, type Metrics } from '@millrace/runtime';
import { createThrottledError, type GuessLimit, type RateLimit } from '../../access/rate-limit.ts';
import type { AccountMailing } from '../sign-in/account-mailing.ts';
import { resourceTypes, schemaDocuments, serviceProviderConfig } from './documents.ts';
import {
  createScimErrorResponse,
  createScimListResponse,
  type GroupChange,
  parseAttributeSelection,
  parseFilter,
  parsePage,
  parseScimSearch,
  patchGroup,
  patchUser,
  readGroup,
  readUser,
  type ScimResponse,
  schemas,
} from './protocol.ts';
import { findScimDomain, listGroups, recordGroup, recordScimRequest, type ScimGroupRow } from './store.ts';

export interface ScimDeps extends Pick<Database, 'sql' | 'transaction'> {
  logger: Logger;
  accountMailing: AccountMailing;
  requestLimit: RateLimit;
  /** Limits invalid and missing tokens per IP address. */
  guessLimit: GuessLimit;
  metrics: Metrics;
  /** Converts a database failure to an error for the client. Returns null for all other errors. */
  translateError: (error: unknown) => AppError | null;
}

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const pathPattern = new RegExp(`^/scim/v2/(${uuid})(?:/([^/]*)(?:/([^/]+))?)?/?$`, 'i');

interface ScimRequest {
  domain: ScimDomain;
  request: ApiRequest;
  method: string;
  id: string | undefined;
  /** Query parameters from the URL. For a POST search, they come from the body. */
  query: URLSearchParams;
  base: string;
}

/**
 * Creates the page route for everything under `/scim`. SCIM has its own status codes and error format, even for unknown
 * paths and methods.
 */
export function createScimPage(deps: ScimDeps): PageRoute {
  const { sql, logger } = deps;
  const counter = deps.metrics.counter('millrace_scim_requests_total', 'SCIM requests, by response status', ['status']);
  const kinds = new Map<string, (scimRequest: ScimRequest) => Promise<ScimResponse>>([
    ['users', (scimRequest) => handleUsers(deps, scimRequest)],
    ['groups', (scimRequest) => handleGroups(deps, scimRequest)],
    ['serviceproviderconfig', async (scimRequest) => document(scimRequest, serviceProviderConfig(scimRequest.base))],
    ['resourcetypes', async (scimRequest) => documents(scimRequest, resourceTypes(scimRequest.base))],
    ['schemas', async (scimRequest) => documents(scimRequest, schemaDocuments(scimRequest.base))],
  ]);

  async function serve({ request, response }: PageContext): Promise<void> {
    const { method } = request;
    let domain: ScimDomain | undefined;
    let scimResponse: ScimResponse;
    try {
      const [, domainId = '', kind = '', id] = pathPattern.exec(request.path) ?? [];
      domain = await identify(deps, request, domainId);
      const handleKind = kinds.get(kind.toLowerCase());
      if (!handleKind)
        throw new AppError(
          'not_found',
          'The path does not contain a known resource type: Users, Groups, ServiceProviderConfig, ResourceTypes or ' +
            'Schemas.',
        );
      const base = `${request.baseUrl}/scim/v2/${domain.id}`;
      const scimRequest = { domain, request, method, id: id && decoded(id), query: request.query, base };
      scimResponse = await handleKind(await searching(scimRequest));
    } catch (error) {
      const known = deps.translateError(error) ?? error;
      const isOurs = !isAppError(known) || known.kind === 'internal';
      if (isOurs) logger.error('SCIM request failed', { error, requestId: request.id, path: request.path });
      scimResponse = createScimErrorResponse(
        isOurs ? new AppError('internal', `A server error occurred (${request.id}).`) : known,
      );
    }
    if (domain) {
      const detail = scimResponse.status < 400 ? '' : String((scimResponse.body as { detail?: unknown }).detail);
      const row = { method, path: pathWithin(request), status: scimResponse.status, detail };
      // The change is already committed, so a failure to log the request must not fail the request.
      await recordScimRequest(sql, domain.id, row).catch((error: unknown) =>
        logger.warn('could not record a SCIM request', { error, requestId: request.id }),
      );
    }
    counter.inc({ status: String(scimResponse.status) });
    send(response, scimResponse, method);
  }

  return { path: '/scim/*', methods: 'any', serve };
}

const pathWithin = ({ path, query }: ApiRequest) =>
  path.replace(/^\/scim\/v2\/[^/]+/, '') + (query.size > 0 ? `?${query}` : '');

/** Decodes an ID in a path. @throws AppError `invalid` for a null character, because PostgreSQL cannot store it */
function decoded(text: string): string {
  const id = decodeUri(text);
  if (!id.includes('\0')) return id;
  throw new AppError('invalid', 'The ID must not contain null characters.', { code: 'invalidValue' });
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Finds the domain that a request's token belongs to, within the rate limits.
 * @throws AppError `unauthenticated` or `rate_limited`
 */
async function identify(
  { sql, guessLimit, requestLimit }: ScimDeps,
  request: ApiRequest,
  domainId: string,
): Promise<ScimDomain> {
  const [, token = null] = /^Bearer\s+(\S+)$/i.exec(request.header('authorization')?.trim() ?? '') ?? [];
  guessLimit.check(request.address, token);
  const domain = token === null || domainId === '' ? undefined : await findScimDomain(sql, { domainId, token });
  if (!domain || token === null) {
    await guessLimit.recordFailure(request.address);
    throw new AppError('unauthenticated', 'The token is not valid for this domain, or the domain is not verified.');
  }
  guessLimit.recordSuccess(token);
  const wait = await requestLimit.take(`scim:${domain.id}`);
  if (wait !== null) throw createThrottledError(wait, "This domain's identity provider sent too many requests.");
  return domain;
}

/** Converts a POST search to a list request. A POST search has its query in the body. */
async function searching(scimRequest: ScimRequest): Promise<ScimRequest> {
  if (scimRequest.id !== '.search') return scimRequest;
  requireMethod(scimRequest, 'POST');
  return { ...scimRequest, method: 'GET', id: undefined, query: parseScimSearch(await scimRequest.request.body()) };
}

function requireMethod({ method }: ScimRequest, ...allowed: string[]): void {
  if (allowed.includes(method)) return;
  throw new AppError(
    'method_not_allowed',
    `${method} is not supported here. Supported methods: ${allowed.join(', ')}.`,
  );
}

function document(scimRequest: ScimRequest, body: object): ScimResponse {
  requireMethod(scimRequest, 'GET');
  if (scimRequest.id !== undefined) throw new AppError('not_found', 'Not found.');
  return { status: 200, body };
}

function documents(scimRequest: ScimRequest, all: { id: string }[]): ScimResponse {
  requireMethod(scimRequest, 'GET');
  if (scimRequest.id === undefined)
    return { status: 200, body: createScimListResponse(all, { startIndex: 1, total: all.length }) };
  const body = all.find(({ id }) => id === scimRequest.id);
  if (!body) throw new AppError('not_found', 'Not found.');
  return { status: 200, body };
}

async function handleUsers(
  { sql, transaction, accountMailing }: ScimDeps,
  scimRequest: ScimRequest,
): Promise<ScimResponse> {
  const { domain, request, method, id, query } = scimRequest;
  const selectAttributes = parseAttributeSelection(query);
  const now = new Date();
  if (id === undefined) {
    requireMethod(scimRequest, 'GET', 'POST');
    if (method === 'POST') {
      const fields = readUser(await request.body());
      const { user, isClaimed } = await transaction(async (tx) => {
        const { uuid, isClaimed } = await provisionUser(tx, domain, { ...fields, now });
        return { user: await requireUser(tx, domain, uuid), isClaimed };
      });
      if (isClaimed) accountMailing.notifyUser(user, 'account_provisioned', { domain: domain.name });
      const body = toUser(scimRequest, user);
      return { status: 201, body: selectAttributes(body), location: body.meta.location };
    }
    const page = parsePage(query);
    const filter = parseFilter(query.get('filter'), ['username', 'emails.value', 'externalid', 'id']);
    const { count, rows } = await listScimUsers(sql, domain, { ...page, filter: toUserFilter(filter) });
    const users = rows.map((row) => selectAttributes(toUser(scimRequest, row)));
    return { status: 200, body: createScimListResponse(users, { ...page, total: count }) };
  }
  requireMethod(scimRequest, 'GET', 'PUT', 'PATCH', 'DELETE');
  if (method === 'GET')
    return { status: 200, body: selectAttributes(toUser(scimRequest, await requireUser(sql, domain, id))) };
  if (method === 'DELETE') {
    await transaction((tx) => removeProvisionedUser(tx, domain, id));
    return { status: 204 };
  }
  // If the user does not exist, return 404 before reading the body.
  await requireUser(sql, domain, id);
  const sent = await request.body();
  const { user, emailBefore } = await transaction(async (tx) => {
    const before = await requireUser(tx, domain, id);
    const fields = method === 'PUT' ? readUser(sent) : patchUser(fieldsOf(before), sent);
    const emailBefore = await changeProvisionedUser(tx, domain, { uuid: id, fields, now });
    return { user: await requireUser(tx, domain, id), emailBefore };
  });
  if (emailBefore !== null) {
    accountMailing.notifyUser(user, 'email_changed');
    accountMailing.notifyUser({ ...user, email: emailBefore }, 'email_changed');
  }
  return { status: 200, body: selectAttributes(toUser(scimRequest, user)) };
}

function toUserFilter(filter: { name: string; value: string } | null) {
  if (filter === null) return {};
  const { name, value } = filter;
  if (name === 'id') return { uuid: value.toLowerCase() };
  return name === 'externalid' ? { externalId: value } : { email: parseEmailAddress(value) ?? value };
}

async function requireUser(sql: Sql, domain: ScimDomain, uuid: string): Promise<ScimUser> {
  const user = await findScimUser(sql, domain, uuid);
  if (!user) throw new AppError('not_found', `User ${uuid.slice(0, 100)} not found in ${domain.name}.`);
  return user;
}

const fieldsOf = (user: ScimUser) => ({
  userName: user.email,
  firstName: user.first_name,
  lastName: user.last_name,
  externalId: user.external_id,
  isActive: user.is_active,
});

function toUser({ base }: ScimRequest, user: ScimUser) {
  const whole = `${user.first_name} ${user.last_name}`.trim();
  const groups = user.roles.map(({ id, name }) => ({ value: id, display: name, $ref: `${base}/Groups/${id}` }));
  return {
    schemas: [schemas.user],
    id: user.uuid,
    ...(user.external_id !== null && { externalId: user.external_id }),
    userName: user.email,
    ...(whole !== '' && { name: { givenName: user.first_name, familyName: user.last_name } }),
    displayName: whole || user.email,
    emails: [{ value: user.email, type: 'work', primary: true }],
    active: user.is_active,
    groups,
    meta: metaOf('User', user, `${base}/Users/${user.uuid}`),
  };
}

function metaOf(
  resourceType: 'User' | 'Group',
  { created_at, updated_at }: { created_at: Date; updated_at: Date },
  location: string,
) {
  return { resourceType, created: created_at.toISOString(), lastModified: updated_at.toISOString(), location };
}

/** Returns true if a client excludes an attribute. For a large group, excluding the members avoids reading them. */
function isExcluded(query: URLSearchParams, name: string): boolean {
  return !Object.hasOwn(parseAttributeSelection(query)({ [name]: null }), name);
}

async function handleGroups({ sql, transaction }: ScimDeps, scimRequest: ScimRequest): Promise<ScimResponse> {
  const { domain, request, method, id, query } = scimRequest;
  const { organizationId, name: scimDomain } = domain;
  const of = { organizationId, actor: { scimDomain } };
  const show = async (tx: Sql, roleId: string) => toGroup(tx, scimRequest, await requireGroup(tx, domain, roleId));
  const selectAttributes = parseAttributeSelection(query);
  if (id === undefined) {
    requireMethod(scimRequest, 'GET', 'POST');
    if (method === 'POST') {
      const { name, ...rest } = readGroup(await request.body());
      const body = await transaction(async (tx) => {
        const role = await createRole(tx, { ...of, name });
        await changeGroup(tx, domain, role.id, rest);
        return show(tx, role.id);
      });
      return { status: 201, body: selectAttributes(body), location: body.meta.location };
    }
    const page = parsePage(query);
    const filter = parseFilter(query.get('filter'), ['displayname', 'externalid', 'id']);
    const by = filter && { displayname: 'name', externalid: 'externalId', id: 'id' }[filter.name];
    const { count, rows } = await listGroups(sql, domain, {
      ...page,
      filter: filter && by ? { [by]: filter.value } : {},
    });
    const groups = await Promise.all(rows.map(async (row) => selectAttributes(await toGroup(sql, scimRequest, row))));
    return { status: 200, body: createScimListResponse(groups, { ...page, total: count }) };
  }
  requireMethod(scimRequest, 'GET', 'PUT', 'PATCH', 'DELETE');
  await requireGroup(sql, domain, id);
  if (method === 'GET') return { status: 200, body: selectAttributes(await show(sql, id)) };
  if (method === 'DELETE') {
    await transaction(async (tx) => {
      const role = await requireGroup(tx, domain, id);
      await requireRoleWithinDomain(tx, domain, role.id);
      await removeRole(tx, { ...of, roleId: role.id });
    });
    return { status: 204 };
  }
  const sent = await request.body();
  const change = method === 'PUT' ? readGroup(sent) : patchGroup(sent);
  const body = await transaction(async (tx) => {
    const role = await requireGroup(tx, domain, id);
    if (change.name !== undefined && change.name !== role.name) await requireRoleWithinDomain(tx, domain, role.id);
    if (change.name !== undefined) await renameRole(tx, { ...of, roleId: role.id, name: change.name });
    await changeGroup(tx, domain, role.id, change);
    return show(tx, role.id);
  });
  return { status: 200, body: selectAttributes(body) };
}

async function changeGroup(
  tx: Transaction,
  domain: ScimDomain,
  roleId: string,
  { externalId, members }: GroupChange,
): Promise<void> {
  if (externalId !== undefined) await recordGroup(tx, domain, { roleId, externalId });
  if (members) await changeRoleMembers(tx, domain, { roleId, members });
}

async function requireGroup(sql: Sql, domain: ScimDomain, id: string): Promise<ScimGroupRow> {
  const { rows } = await listGroups(sql, domain, { filter: { id }, limit: 1, offset: 0 });
  if (!rows[0]) throw new AppError('not_found', `Group ${id.slice(0, 100)} not found.`);
  return rows[0];
}

async function toGroup(sql: Sql, { base, domain, query }: ScimRequest, row: ScimGroupRow) {
  const holders = isExcluded(query, 'members') ? null : await listRoleHoldersInDomain(sql, domain, row.id);
  const members = holders?.map(({ uuid: value, email: display }) => ({
    value,
    display,
    $ref: `${base}/Users/${value}`,
  }));
  return {
    schemas: [schemas.group],
    id: row.id,
    ...(row.external_id !== null && { externalId: row.external_id }),
    displayName: row.name,
    ...(members && { members }),
    meta: metaOf('Group', row, `${base}/Groups/${row.id}`),
  };
}

function send(
  response: ServerResponse,
  { status, body, location, retryAfterSeconds }: ScimResponse,
  method: string,
): void {
  response.setHeader('Cache-Control', 'no-store');
  if (location) response.setHeader('Location', location);
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="SCIM"');
  response.statusCode = status;
  if (body === undefined) return void response.end();
  response.setHeader('Content-Type', 'application/scim+json; charset=utf-8');
  response.end(method === 'HEAD' ? undefined : JSON.stringify(body));
}
