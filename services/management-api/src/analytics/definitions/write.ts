// Creates, changes and deletes event and property definitions. Checks the fields and records the change in the activity
// log.

import { isRowId, recordActivity } from '@millrace/accounts';
import { maxDefinedNameBytes } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { findMember } from '../../identity/members/store.ts';
import type { eventDefinitionChanges, newEventDefinition, propertyDefinitionChanges } from './schema.ts';
import {
  type EventDefinitionRow,
  listEventDefinitions,
  listPropertyDefinitions,
  type PropertyDefinitionRow,
} from './store.ts';
import {
  deleteEventDefinition,
  deletePropertyDefinition,
  type Edits,
  insertEventDefinition,
  lockDefinition,
  updateEventDefinition,
  updatePropertyDefinition,
} from './write-store.ts';

type EventChanges = Static<typeof eventDefinitionChanges>;
type PropertyChanges = Static<typeof propertyDefinitionChanges>;
type EditedRow = Pick<
  EventDefinitionRow,
  'description' | 'tags' | 'hidden' | 'verified' | 'verified_at' | 'verified_by'
>;

interface Author {
  caller: Caller;
  place: AddressedProject;
}

const unedited: EditedRow = {
  description: '',
  tags: [],
  hidden: false,
  verified: false,
  verified_at: null,
  verified_by: null,
};

const refusal = (attr: string, detail: string, code = 'invalid_input') =>
  new AppError('invalid', detail, { code, attr });

/** Creates a definition for an event that has not been received yet. @throws AppError `invalid` naming the field */
export async function createEventDefinition(
  tx: Transaction,
  author: Author,
  { name, ...fields }: Static<typeof newEventDefinition>,
): Promise<EventDefinitionRow> {
  const { environmentId } = author.place;
  if (Buffer.byteLength(name) > maxDefinedNameBytes) {
    const detail = `Ensure this field has no more than ${maxDefinedNameBytes} bytes. Events with longer names have no definition.`;
    throw refusal('name', detail, 'max_length');
  }
  const edits = await eventEdits(tx, author, { before: { ...unedited, owner: null }, changes: fields });
  if (!(await insertEventDefinition(tx, { environmentId, name }, edits))) {
    throw refusal('name', `Event definition with name '${name}' already exists`);
  }
  const { rows } = await listEventDefinitions(tx, environmentId, { names: [name] }, { limit: 1, offset: 0 });
  const after = requireFoundRow(rows[0]);
  await record(tx, author, { scope: 'EventDefinition', after });
  return after;
}

/**
 * Changes only the given fields.
 * @throws AppError `not_found`, or `invalid` naming the field
 */
export async function changeEventDefinition(
  tx: Transaction,
  author: Author,
  { id, changes }: { id: string; changes: EventChanges },
): Promise<EventDefinitionRow> {
  const { environmentId } = author.place;
  const before = await lockedEvent(tx, environmentId, id);
  refuseRename(before, changes);
  const edits = await eventEdits(tx, author, { before, changes });
  await updateEventDefinition(tx, { environmentId, name: before.name }, edits);
  const after = await foundEvent(tx, environmentId, id);
  await record(tx, author, { scope: 'EventDefinition', before, after });
  return after;
}

/**
 * Deletes a definition. The consumer creates a new one when it receives the event again.
 * @throws AppError `not_found`.
 */
export async function removeEventDefinition(tx: Transaction, author: Author, id: string): Promise<void> {
  const { environmentId } = author.place;
  const before = await lockedEvent(tx, environmentId, id);
  await deleteEventDefinition(tx, { environmentId, name: before.name });
  await record(tx, author, { scope: 'EventDefinition', before });
}

/** Changes only the given fields. @throws AppError `not_found`, or `invalid` naming the field. */
export async function changePropertyDefinition(
  tx: Transaction,
  author: Author,
  { id, changes }: { id: string; changes: PropertyChanges },
): Promise<PropertyDefinitionRow> {
  const { environmentId } = author.place;
  const before = await lockedProperty(tx, environmentId, id);
  refuseRename(before, changes);
  const { property_type = before.property_type } = changes;
  const edits = { ...withChanges(before, changes, { userId: author.caller.userId, kind: 'property' }), property_type };
  await updatePropertyDefinition(tx, environmentId, { key: before, edits });
  const after = await foundProperty(tx, environmentId, id);
  await record(tx, author, { scope: 'PropertyDefinition', before, after });
  return after;
}

/**
 * Deletes a definition. The consumer creates a new one when it receives the property again.
 * @throws AppError `not_found`.
 */
export async function removePropertyDefinition(tx: Transaction, author: Author, id: string): Promise<void> {
  const { environmentId } = author.place;
  const before = await lockedProperty(tx, environmentId, id);
  await deletePropertyDefinition(tx, environmentId, before);
  await record(tx, author, { scope: 'PropertyDefinition', before });
}

/**
 * Checks the edited fields of an event definition, and converts them to columns.
 * @throws AppError `invalid` naming the field
 */
async function eventEdits(
  tx: Transaction,
  { caller, place }: Author,
  { before, changes }: { before: EditedRow & Pick<EventDefinitionRow, 'owner'>; changes: Omit<EventChanges, 'name'> },
) {
  const { owner = before.owner?.id ?? null } = changes;
  const isNew = owner !== null && owner !== before.owner?.id;
  if (isNew && !(isRowId(owner) && (await findMember(tx, place.organizationId, { id: owner })))) {
    throw refusal('owner', `Invalid pk "${owner}" - object does not exist.`, 'does_not_exist');
  }
  return { ...withChanges(before, changes, { userId: caller.userId, kind: 'event' }), owner_id: owner };
}

/** Applies changes. A definition cannot be both verified and hidden, so setting one to true sets the other to false. */
function withChanges(
  before: EditedRow,
  changes: Pick<PropertyChanges, 'description' | 'tags' | 'verified' | 'hidden'>,
  { userId, kind }: { userId: number; kind: 'event' | 'property' },
): Edits {
  const { description = before.description, tags = before.tags } = changes;
  if (changes.hidden && changes.verified) {
    const article = kind === 'event' ? 'An' : 'A';
    throw new AppError('invalid', `${article} ${kind} cannot be both hidden and verified`, { code: 'invalid_input' });
  }
  const verified = changes.hidden ? false : (changes.verified ?? before.verified);
  const hidden = changes.verified ? false : ((changes.hidden === undefined ? before.hidden : changes.hidden) ?? false);
  const isKept = verified && before.verified;
  return {
    description: description ?? '',
    tags,
    hidden,
    verified,
    verified_at: isKept ? before.verified_at : verified ? new Date() : null,
    verified_by_id: isKept ? (before.verified_by?.id ?? null) : verified ? userId : null,
    updated_by_id: userId,
  };
}

/** Rejects a new name. Accepts the current name, because clients send the complete record. */
function refuseRename(before: { name: string }, { name }: { name?: string }): void {
  if (name === undefined || name === before.name.trim()) return;
  throw refusal('name', 'The name of a definition cannot be changed. Leave `name` out.');
}

async function lockedEvent(tx: Transaction, environmentId: number, id: string): Promise<EventDefinitionRow> {
  await lockDefinition(tx, 'event_definition', { environmentId, id });
  return foundEvent(tx, environmentId, id);
}

async function lockedProperty(tx: Transaction, environmentId: number, id: string): Promise<PropertyDefinitionRow> {
  await lockDefinition(tx, 'property_definition', { environmentId, id });
  return foundProperty(tx, environmentId, id);
}

async function foundEvent(tx: Transaction, environmentId: number, id: string): Promise<EventDefinitionRow> {
  return requireFoundRow((await listEventDefinitions(tx, environmentId, { id }, { limit: 1, offset: 0 })).rows[0]);
}

async function foundProperty(tx: Transaction, environmentId: number, id: string): Promise<PropertyDefinitionRow> {
  return requireFoundRow((await listPropertyDefinitions(tx, environmentId, { id }, { limit: 1, offset: 0 })).rows[0]);
}

/** @throws AppError `not_found` if the query did not find a row */
export function requireFoundRow<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new AppError('not_found', 'Not found.');
  return row;
}

type DefinitionRow = EventDefinitionRow | PropertyDefinitionRow;

async function record(
  tx: Transaction,
  { caller, place }: Author,
  {
    scope,
    before,
    after,
  }: { scope: 'EventDefinition' | 'PropertyDefinition'; before?: DefinitionRow; after?: DefinitionRow },
): Promise<void> {
  const row = requireFoundRow(after ?? before);
  await recordActivity(tx, {
    organizationId: place.organizationId,
    environmentId: place.environmentId,
    scope,
    itemId: row.id,
    activity: before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated',
    actor: { userId: caller.userId },
    name: row.name,
    ...(before && after && { change: { before: editable(before), after: editable(after) } }),
  });
}

function editable(row: DefinitionRow) {
  const { description, tags, verified, hidden } = row;
  const own = 'owner' in row ? { owner: row.owner?.id ?? null } : { property_type: row.property_type };
  return { description, tags, verified, hidden, ...own };
}
