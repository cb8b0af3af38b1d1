// SCIM 2.0 as RFC 7643 and 7644 have it: what requests say, and the forms of answers. Nothing here knows the database.

import type { ScimUserFields } from '@millrace/accounts';
import { isObject } from '@millrace/contracts';
import { statusOf } from '@millrace/http';
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

/** What is answered to one request. */
export interface Answer {
  status: number;
  body?: object;
  location?: string;
  retryAfterSeconds?: number;
}

/** What one page holds at most, and where nothing is said. */
export const mostOnPage = 200;
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

/** What is wrong with a request, with the word that SCIM has for it. */
function invalid(scimType: ScimType, detail: string): AppError {
  return new AppError('invalid', detail, { code: scimType });
}

/** An error in SCIM's own form (RFC 7644, 3.12). */
export function errorAnswer(error: AppError): Answer {
  const { kind, code, attr, message, retryAfterSeconds } = error;
  // The name of a role that is taken is no wrong value but one that is there.
  if (code === 'unique' && attr === 'name') return refused(409, 'There is a group with this name.', 'uniqueness');
  return { ...refused(statusOf(kind), message, scimTypeOf(error)), ...(retryAfterSeconds && { retryAfterSeconds }) };
}

function refused(status: number, detail: string, scimType?: ScimType): Answer {
  return { status, body: { schemas: [schemas.error], status: String(status), ...(scimType && { scimType }), detail } };
}

function scimTypeOf({ kind, code }: AppError): ScimType | undefined {
  const said = scimTypes.find((known) => known === code);
  if (kind === 'conflict' || said !== undefined) return said;
  if (kind !== 'invalid') return undefined;
  return code === 'parse_error' ? 'invalidSyntax' : 'invalidValue';
}

/** @throws AppError `invalid` (`invalidValue`). */
export function pageOf(query: URLSearchParams): { limit: number; offset: number; startIndex: number } {
  const whole = (name: string, otherwise: number) => {
    const text = query.get(name);
    if (text === null || text === '') return otherwise;
    if (!/^-?\d{1,9}$/.test(text)) throw invalid('invalidValue', `${name} has to be a whole number.`);
    return Number(text);
  };
  // Below 1 counts as 1, and a negative count as none (RFC 7644, 3.4.2.4).
  const startIndex = Math.max(1, whole('startIndex', 1));
  const limit = Math.min(mostOnPage, Math.max(0, whole('count', usualOnPage)));
  return { limit, offset: startIndex - 1, startIndex };
}

export function listAnswer(resources: object[], { startIndex, total }: { startIndex: number; total: number }) {
  return {
    schemas: [schemas.list],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** Parts of a resource that a request wants, or does not (RFC 7644, 3.9): attributes, and parts of them after a dot. */
export function partsOf<Resource extends object>(resource: Resource, query: URLSearchParams): Partial<Resource> {
  const listed = (name: string) => (query.get(name) ?? '').split(',').flatMap((one) => attributeName(one) || []);
  const [wanted, left] = [listed('attributes'), listed('excludedAttributes')];
  if (wanted.length === 0 && left.length === 0) return resource;
  const always = ['schemas', 'id'];
  const entries = Object.entries(resource).flatMap(([name, value]): [string, unknown][] => {
    const own = name.toLowerCase();
    if (always.includes(name)) return [[name, value]];
    if (wanted.length === 0) return left.includes(own) ? [] : [[name, value]];
    if (wanted.includes(own)) return [[name, value]];
    const parts = wanted.flatMap((one) => (one.startsWith(`${own}.`) ? one.slice(own.length + 1) : []));
    return parts.length > 0 ? [[name, onlyParts(value, parts)]] : [];
  });
  return Object.fromEntries(entries) as Partial<Resource>;
}

function onlyParts(value: unknown, parts: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => onlyParts(one, parts));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => parts.includes(name.toLowerCase())));
}

/** In lower case, without its schema. */
function attributeName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/, '');
}

/** What a search by POST asks for (RFC 7644, 3.4.3), as the query of a list. @throws AppError `invalid`. */
export function readSearch(body: unknown): URLSearchParams {
  const query = new URLSearchParams();
  const names = ['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes'];
  for (const [name, value] of attributesOf(body)) {
    const known = names.find((one) => one.toLowerCase() === name);
    if (known === undefined || value === null) continue;
    query.set(known, Array.isArray(value) ? value.join(',') : String(value));
  }
  return query;
}

const filterPattern = /^\s*([A-Za-z][\w.:$-]*)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i;

/**
 * The attribute and the value of a filter: one comparison with `eq`.
 * @param known names of attributes, in lower case. @throws AppError `invalid` (`invalidFilter`).
 */
export function parseFilter<Name extends string>(
  filter: string | null,
  known: readonly Name[],
): { name: Name; value: string } | null {
  if (filter === null || filter.trim() === '') return null;
  const [, attribute = '', quoted = ''] = filterPattern.exec(filter) ?? [];
  const name = known.find((one) => one === attributeName(attribute));
  const value = name === undefined ? undefined : unquoted(quoted);
  if (name === undefined || value === undefined) {
    throw invalid('invalidFilter', `A filter is one of ${known.join(', ')} with eq and a text in quotes.`);
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

/** Attributes of a resource, found whatever the case of their names (RFC 7643, 2.1). */
function attributesOf(body: unknown): Map<string, unknown> {
  if (!isObject(body)) throw invalid('invalidSyntax', 'The body has to be a JSON object.');
  return new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
}

function textOf(value: unknown, name: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') throw invalid('invalidValue', `${name} has to be a text.`);
  if (value.includes('\0') || value.length > 1000) throw invalid('invalidValue', `${name} is too long, or no text.`);
  return value;
}

/** Some providers write booleans as texts. */
function booleanOf(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw invalid('invalidValue', `${name} has to be true or false.`);
}

const nothingYet: ScimUserFields = { userName: '', firstName: '', lastName: '', externalId: null, isActive: true };

/** A user as it is sent whole. What is not kept here is passed over. @throws AppError `invalid`. */
export function readUser(body: unknown): ScimUserFields {
  const attributes = attributesOf(body);
  let fields = nothingYet;
  for (const [name, value] of attributes) fields = withAttribute(fields, name, value);
  // A name that comes in one piece.
  const whole = textOf(attributes.get('displayname'), 'displayName');
  if (fields.firstName === '' && fields.lastName === '') fields = { ...fields, firstName: whole };
  return requireUserName(fields);
}

function requireUserName(fields: ScimUserFields): ScimUserFields {
  if (fields.userName.trim() === '') throw invalid('invalidValue', 'userName is required: the e-mail address.');
  return fields;
}

/** @param name in lower case. */
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
  /** As it was sent; undefined: the value has attributes. */
  path: string | undefined;
  value: unknown;
}

const mostOperations = 1000;

/** @throws AppError `invalid`. */
function operationsOf(body: unknown): Operation[] {
  const operations = attributesOf(body).get('operations');
  if (!Array.isArray(operations) || operations.length === 0) {
    throw invalid('invalidSyntax', 'Operations has to be a list of changes.');
  }
  if (operations.length > mostOperations) throw invalid('invalidSyntax', `At most ${mostOperations} Operations.`);
  return operations.map((one, at) => {
    const parts = attributesOf(one);
    const named = parts.get('op');
    const op = typeof named === 'string' ? named.toLowerCase() : '';
    if (op !== 'add' && op !== 'replace' && op !== 'remove') {
      throw invalid('invalidSyntax', `Operations[${at}].op has to be add, replace or remove.`);
    }
    const path = parts.get('path');
    if (path !== undefined && path !== null && typeof path !== 'string') {
      throw invalid('invalidPath', `Operations[${at}].path has to be a text.`);
    }
    if (op === 'remove' && !path) throw invalid('invalidPath', `Operations[${at}] removes nothing: it has no path.`);
    if (op !== 'remove' && parts.get('value') === undefined) {
      throw invalid('invalidValue', `Operations[${at}].value is required.`);
    }
    return { op, path: path || undefined, value: parts.get('value') };
  });
}

const pathPattern = /^(?:urn:[\w.:-]+:)?[A-Za-z][\w$-]*(?:\[[^\]]*\])?(?:\.[A-Za-z][\w$-]*)?$/;

/** The attribute a path is about, in lower case, without its schema. @throws AppError `invalid` (`invalidPath`). */
function attributeOf(path: string): string {
  if (!pathPattern.test(path)) throw invalid('invalidPath', `The path ${path.slice(0, 100)} cannot be read.`);
  return attributeName(path);
}

/** A user after the changes that a request asks for. @throws AppError `invalid`. */
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

/** What a request says of a group; undefined: nothing. */
export interface GroupChange {
  name?: string;
  externalId?: string | null;
  members?: { set: string[] } | { add: string[]; remove: string[] };
}

/** A group as it is sent whole. @throws AppError `invalid`. */
export function readGroup(body: unknown): GroupChange & { name: string; members: { set: string[] } } {
  const attributes = attributesOf(body);
  const name = textOf(attributes.get('displayname'), 'displayName').trim();
  if (name === '') throw invalid('invalidValue', 'displayName is required.');
  const externalId = textOf(attributes.get('externalid'), 'externalId') || null;
  return { name, externalId, members: { set: membersOf(attributes.get('members') ?? []) } };
}

const mostMembers = 1000;

/** Ids of users, of a list of them or of one. */
function membersOf(value: unknown): string[] {
  const listed = Array.isArray(value) ? value : [value];
  if (listed.length > mostMembers) throw invalid('invalidValue', `At most ${mostMembers} members in one request.`);
  return listed.map((one) => {
    const id = isObject(one) ? attributesOf(one).get('value') : one;
    if (typeof id !== 'string') throw invalid('invalidValue', 'A member has the id of a user as its value.');
    return id.toLowerCase();
  });
}

const memberPath = /^members\[\s*value\s+eq\s+("(?:[^"\\]|\\.)*")\s*\]$/i;

/** What the changes of a group that a request asks for come to. @throws AppError `invalid`. */
export function patchGroup(body: unknown): GroupChange {
  let change: GroupChange = {};
  for (const { op, path, value } of operationsOf(body)) {
    const one = path && memberPath.exec(path);
    if (one) {
      if (op !== 'remove') throw invalid('invalidPath', 'A single member can be removed. Add members by their list.');
      change = withMembers(change, 'remove', [unquoted(one[1] ?? '')?.toLowerCase() ?? '']);
      continue;
    }
    const parts = path === undefined ? attributesOf(value) : new Map([[attributeOf(path), value]]);
    for (const [name, part] of parts) {
      if (name === 'members') {
        const isAll = op === 'remove' && (part === undefined || part === null);
        const ids = isAll ? [] : membersOf(part);
        change = isAll ? { ...change, members: { set: [] } } : withMembers(change, op, ids);
      } else if (op === 'remove' && name === 'displayname') {
        throw invalid('mutability', 'displayName cannot be removed.');
      } else if (name === 'displayname') {
        change = { ...change, name: textOf(part, 'displayName').trim() };
      } else if (name === 'externalid') {
        change = { ...change, externalId: op === 'remove' ? null : textOf(part, 'externalId') || null };
      }
    }
  }
  return change;
}

function withMembers(change: GroupChange, op: Operation['op'], ids: string[]): GroupChange {
  if (op === 'replace') return { ...change, members: { set: ids } };
  const before = change.members ?? { add: [], remove: [] };
  const without = (list: string[]) => list.filter((id) => !ids.includes(id));
  if ('set' in before) {
    return { ...change, members: { set: op === 'add' ? [...without(before.set), ...ids] : without(before.set) } };
  }
  const members =
    op === 'add'
      ? { add: [...before.add, ...ids], remove: without(before.remove) }
      : { add: without(before.add), remove: [...before.remove, ...ids] };
  return { ...change, members };
}
