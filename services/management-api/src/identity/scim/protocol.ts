// Parses SCIM 2.0 requests and builds responses (RFC 7643 and 7644). Does not access the database.

import type { ScimUserFields } from '@millrace/accounts';
import { isObject } from '@millrace/contracts';
import { toHttpStatus } from '@millrace/http';
import { AppError } from '@millrace/runtime';

export const schemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
  config: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
} as const;

export interface ScimResponse {
  status: number;
  body?: object;
  location?: string;
  retryAfterSeconds?: number;
}

/** The maximum page size, which is also the default. */
export const maxPageSize = 200;
const usualOnPage = 100;

const scimTypes = [
  'invalidFilter',
  'invalidPath',
  'invalidSyntax',
  'invalidValue',
  'mutability',
  'uniqueness',
] as const;
type ScimType = (typeof scimTypes)[number];

function invalid(scimType: ScimType, detail: string): AppError {
  return new AppError('invalid', detail, { code: scimType });
}

/** Converts an error to SCIM's error format (RFC 7644, 3.12). */
export function createScimErrorResponse(error: AppError): ScimResponse {
  const { kind, code, attr, message, retryAfterSeconds } = error;
  // For a duplicate role name, SCIM requires a conflict error, not an invalid value error.
  if (code === 'unique' && attr === 'name') return refused(409, 'A group with this name already exists.', 'uniqueness');
  return {
    ...refused(toHttpStatus(kind), message, scimTypeOf(error)),
    ...(retryAfterSeconds && { retryAfterSeconds }),
  };
}

function refused(status: number, detail: string, scimType?: ScimType): ScimResponse {
  return { status, body: { schemas: [schemas.error], status: String(status), ...(scimType && { scimType }), detail } };
}

function scimTypeOf({ kind, code }: AppError): ScimType | undefined {
  const scimType = scimTypes.find((known) => known === code);
  if (kind === 'conflict' || scimType !== undefined) return scimType;
  if (kind !== 'invalid') return undefined;
  return code === 'parse_error' ? 'invalidSyntax' : 'invalidValue';
}

export function parsePage(query: URLSearchParams): { limit: number; offset: number; startIndex: number } {
  const whole = (name: string, otherwise: number) => {
    const text = query.get(name);
    if (text === null || text === '') return otherwise;
    if (!/^-?\d{1,9}$/.test(text)) throw invalid('invalidValue', `${name} must be an integer of at most 9 digits.`);
    return Number(text);
  };
  // A start index below 1 is treated as 1, and a negative count as 0 (RFC 7644, 3.4.2.4).
  const startIndex = Math.max(1, whole('startIndex', 1));
  const limit = Math.min(maxPageSize, Math.max(0, whole('count', usualOnPage)));
  return { limit, offset: startIndex - 1, startIndex };
}

export function createScimListResponse(
  resources: object[],
  { startIndex, total }: { startIndex: number; total: number },
) {
  return {
    schemas: [schemas.list],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

const maxAttributes = 100;

/**
 * Parses the attributes that a request selects or excludes (RFC 7644, 3.9). A dot separates an attribute from a
 * sub-attribute.
 * @returns a function that removes all other attributes from a resource
 * @throws AppError `invalid` (`invalidValue`)
 */
export function parseAttributeSelection(
  query: URLSearchParams,
): <Resource extends object>(resource: Resource) => Partial<Resource> {
  const listed = (name: string) => {
    const names = new Set((query.get(name) ?? '').split(',').map(attributeName));
    names.delete('');
    if (names.size > maxAttributes)
      throw invalid('invalidValue', `${name} can contain at most ${maxAttributes} names.`);
    return names;
  };
  const [included, excluded] = [listed('attributes'), listed('excludedAttributes')];
  const partsOf = (name: string) =>
    new Set([...included].flatMap((one) => (one.startsWith(`${name}.`) ? one.slice(name.length + 1) : [])));
  return (resource) => {
    if (included.size === 0 && excluded.size === 0) return resource;
    const entries = Object.entries(resource).flatMap(([name, value]): [string, unknown][] => {
      const own = name.toLowerCase();
      if (name === 'schemas' || name === 'id') return [[name, value]];
      if (included.size === 0) return excluded.has(own) ? [] : [[name, value]];
      if (included.has(own)) return [[name, value]];
      const parts = partsOf(own);
      return parts.size > 0 ? [[name, onlyParts(value, parts)]] : [];
    });
    return Object.fromEntries(entries) as Partial<typeof resource>;
  };
}

function onlyParts(value: unknown, parts: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => onlyParts(one, parts));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => parts.has(name.toLowerCase())));
}

function attributeName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/, '');
}

/**
 * Converts the body of a POST search (RFC 7644, 3.4.3) to the query parameters of a list request.
 * @throws AppError `invalid`
 */
export function parseScimSearch(body: unknown): URLSearchParams {
  const query = new URLSearchParams();
  const names = ['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes'];
  for (const [name, value] of attributesOf(body)) {
    const known = names.find((one) => one.toLowerCase() === name);
    if (known === undefined || value === null) continue;
    const parts = Array.isArray(value) ? value : [value];
    if (!parts.every((one) => typeof one === 'string' || typeof one === 'number')) {
      throw invalid('invalidValue', `${known} must be a string, a number or a list of these.`);
    }
    query.set(known, parts.join(','));
  }
  return query;
}

const filterPattern = /^\s*([A-Za-z][\w.:$-]*)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i;

/**
 * Parses a filter, which must be a single comparison with `eq`.
 * @param known names of the allowed attributes, in lower case
 * @returns the filter's attribute and value
 * @throws AppError `invalid` (`invalidFilter`)
 */
export function parseFilter<Name extends string>(
  filter: string | null,
  known: readonly Name[],
): { name: Name; value: string } | null {
  if (filter === null || filter.trim() === '') return null;
  const [, attribute = '', quoted = ''] = filterPattern.exec(filter) ?? [];
  const name = known.find((one) => one === attributeName(attribute));
  const value = name === undefined ? undefined : unquoted(quoted);
  if (value?.includes('\0')) throw invalid('invalidFilter', 'A filter must not contain null characters.');
  if (name === undefined || value === undefined) {
    throw invalid(
      'invalidFilter',
      `A filter must have the form \`attribute eq "value"\`. Supported attributes: ${known.join(', ')}.`,
    );
  }
  return { name, value };
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** Returns a resource's attributes by lower-case name, because names are case-insensitive (RFC 7643, 2.1). */
function attributesOf(body: unknown): Map<string, unknown> {
  if (!isObject(body)) throw invalid('invalidSyntax', 'The body must be a JSON object.');
  return new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
}

function textOf(value: unknown, name: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') throw invalid('invalidValue', `${name} must be a string.`);
  if (value.includes('\0') || value.length > 1000)
    throw invalid('invalidValue', `${name} must have at most 1000 characters and no null characters.`);
  return value;
}

/** Parses a boolean. Accepts a string too, because some providers send one. */
function booleanOf(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw invalid('invalidValue', `${name} must be true or false.`);
}

const nothingYet: ScimUserFields = { userName: '', firstName: '', lastName: '', externalId: null, isActive: true };

/**
 * Parses the body of a request that creates or replaces a user. Ignores attributes that Millrace does not store.
 * @throws AppError `invalid`
 */
export function readUser(body: unknown): ScimUserFields {
  const attributes = attributesOf(body);
  let fields = nothingYet;
  for (const [name, value] of attributes) fields = withAttribute(fields, name, value);
  // If a user has neither a given name nor a family name, use the display name as the first name.
  const whole = textOf(attributes.get('displayname'), 'displayName');
  if (fields.firstName === '' && fields.lastName === '') fields = { ...fields, firstName: whole };
  return requireUserName(fields);
}

function requireUserName(fields: ScimUserFields): ScimUserFields {
  if (fields.userName.trim() === '')
    throw invalid('invalidValue', 'userName is required. It must be the email address.');
  return fields;
}

function withAttribute(fields: ScimUserFields, name: string, value: unknown): ScimUserFields {
  switch (name) {
    case 'username':
      return { ...fields, userName: textOf(value, 'userName').trim() };
    case 'externalid':
      return { ...fields, externalId: textOf(value, 'externalId') || null };
    case 'active':
      return { ...fields, isActive: booleanOf(value, 'active') };
    case 'name.givenname':
      return { ...fields, firstName: textOf(value, 'name.givenName') };
    case 'name.familyname':
      return { ...fields, lastName: textOf(value, 'name.familyName') };
    case 'name': {
      let named = fields;
      if (value === null) return { ...fields, firstName: '', lastName: '' };
      for (const [part, text] of attributesOf(value)) named = withAttribute(named, `name.${part}`, text);
      return named;
    }
    default:
      return fields;
  }
}

interface Operation {
  op: 'add' | 'replace' | 'remove';
  /** The path as the client sent it. If undefined, `value` contains the attributes. */
  path: string | undefined;
  value: unknown;
}

const maxOperations = 1000;

function operationsOf(body: unknown): Operation[] {
  const operations = attributesOf(body).get('operations');
  if (!Array.isArray(operations) || operations.length === 0) {
    throw invalid('invalidSyntax', 'Operations must be a non-empty list.');
  }
  if (operations.length > maxOperations)
    throw invalid('invalidSyntax', `Operations can contain at most ${maxOperations} operations.`);
  return operations.map((one, at) => {
    const parts = attributesOf(one);
    const named = parts.get('op');
    const op = typeof named === 'string' ? named.toLowerCase() : '';
    if (op !== 'add' && op !== 'replace' && op !== 'remove') {
      throw invalid('invalidSyntax', `Operations[${at}].op must be add, replace or remove.`);
    }
    const path = parts.get('path');
    if (path !== undefined && path !== null && typeof path !== 'string') {
      throw invalid('invalidPath', `Operations[${at}].path must be a string.`);
    }
    if (op === 'remove' && !path) throw invalid('invalidPath', `Operations[${at}].path is required if op is remove.`);
    if (op !== 'remove' && parts.get('value') === undefined) {
      throw invalid('invalidValue', `Operations[${at}].value is required if op is add or replace.`);
    }
    return { op, path: path || undefined, value: parts.get('value') };
  });
}

const pathPattern = /^(?:urn:[\w.:-]+:)?[A-Za-z][\w$-]*(?:\[[^\]]*\])?(?:\.[A-Za-z][\w$-]*)?$/;

/**
 * Returns the attribute name in a path, in lower case and without its schema prefix.
 * @throws AppError `invalid` (`invalidPath`)
 */
function attributeOf(path: string): string {
  if (!pathPattern.test(path)) throw invalid('invalidPath', `The path ${path.slice(0, 100)} is not valid.`);
  return attributeName(path);
}

export function patchUser(before: ScimUserFields, body: unknown): ScimUserFields {
  let fields = before;
  for (const { op, path, value } of operationsOf(body)) {
    if (path === undefined) {
      for (const [name, part] of attributesOf(value)) fields = withAttribute(fields, attributeOf(name), part);
      continue;
    }
    const attribute = attributeOf(path);
    if (op === 'remove' && (attribute === 'username' || attribute === 'active')) {
      throw invalid('mutability', `${path} cannot be removed.`);
    }
    fields = withAttribute(fields, attribute, op === 'remove' ? null : value);
  }
  return requireUserName(fields);
}

/** Changes to a group. Undefined fields remain unchanged. */
export interface GroupChange {
  name?: string;
  externalId?: string | null;
  members?: { set: string[] } | { add: string[]; remove: string[] };
}

/** Parses the body of a request that creates or replaces a group. @throws AppError `invalid` */
export function readGroup(body: unknown): GroupChange & { name: string; members: { set: string[] } } {
  const attributes = attributesOf(body);
  const name = textOf(attributes.get('displayname'), 'displayName').trim();
  if (name === '') throw invalid('invalidValue', 'displayName is required.');
  const externalId = textOf(attributes.get('externalid'), 'externalId') || null;
  return { name, externalId, members: { set: membersOf(attributes.get('members') ?? []) } };
}

const maxMembers = 1000;

function membersOf(value: unknown): string[] {
  const listed = Array.isArray(value) ? value : [value];
  if (listed.length > maxMembers) throw tooManyMembers();
  return listed.map((one) => {
    const id = textOf(isObject(one) ? attributesOf(one).get('value') : one, 'The value of a member').toLowerCase();
    if (id === '') throw invalid('invalidValue', 'Each member needs a value, which is the ID of a user.');
    return id;
  });
}

function tooManyMembers(): AppError {
  return invalid('invalidValue', `A request can contain at most ${maxMembers} members.`);
}

const memberPath = /^members\[\s*value\s+eq\s+("(?:[^"\\]|\\.)*")\s*\]$/i;

/** A change to a group's members: either a list that replaces all members, or additions and removals. */
interface MemberChange {
  isList: boolean;
  added: Set<string>;
  removed: Set<string>;
}

/**
 * Combines the operations of a PATCH request for a group into one change.
 * @throws AppError `invalid`
 */
export function patchGroup(body: unknown): GroupChange {
  const change: GroupChange = {};
  let members: MemberChange | undefined;
  for (const { op, path, value } of operationsOf(body)) {
    const one = path && memberPath.exec(path);
    if (one) {
      if (op !== 'remove')
        throw invalid(
          'invalidPath',
          'A path to a single member is supported only if op is remove. To add members, use the path members.',
        );
      members = withMembers(members, 'remove', membersOf(unquoted(one[1] ?? '')));
      continue;
    }
    const parts = path === undefined ? attributesOf(value) : new Map([[attributeOf(path), value]]);
    for (const [name, part] of parts) {
      if (name === 'members') {
        const isAll = op === 'remove' && (part === undefined || part === null);
        members = isAll ? withMembers(members, 'replace', []) : withMembers(members, op, membersOf(part));
      } else if (op === 'remove' && name === 'displayname') {
        throw invalid('mutability', 'displayName cannot be removed.');
      } else if (name === 'displayname') {
        change.name = textOf(part, 'displayName').trim();
      } else if (name === 'externalid') {
        change.externalId = op === 'remove' ? null : textOf(part, 'externalId') || null;
      }
    }
  }
  if (members === undefined) return change;
  const { isList, added, removed } = members;
  return { ...change, members: isList ? { set: [...added] } : { add: [...added], remove: [...removed] } };
}

/**
 * Applies one operation to a group's members.
 * @throws AppError `invalid` (`invalidValue`) if all operations together contain too many members
 */
function withMembers(before: MemberChange | undefined, op: Operation['op'], ids: string[]): MemberChange {
  if (op === 'replace') return { isList: true, added: new Set(ids), removed: new Set() };
  const change = before ?? { isList: false, added: new Set(), removed: new Set() };
  for (const id of ids) {
    change[op === 'add' ? 'removed' : 'added'].delete(id);
    if (op === 'add') change.added.add(id);
    else if (!change.isList) change.removed.add(id);
  }
  if (change.added.size + change.removed.size > maxMembers) throw tooManyMembers();
  return change;
}
