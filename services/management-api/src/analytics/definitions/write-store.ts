// SQL that writes event and property definitions.

import type { Columns, Transaction } from '@millrace/db';
import { eventDefinitionId, propertyDefinitionId } from './store.ts';

export interface Edits
  extends Columns<
    'event_definition',
    'description' | 'tags' | 'hidden' | 'verified' | 'verified_at' | 'verified_by_id'
  > {
  updated_by_id: number;
}

type EventEdits = Edits & Columns<'event_definition', 'owner_id'>;
type PropertyEdits = Edits & Columns<'property_definition', 'property_type'>;

/**
 * Locks a definition until the transaction ends. The API locks only one definition at a time, so it cannot deadlock
 * with the consumer.
 * @returns false if the definition does not exist
 */
export async function lockDefinition(
  tx: Transaction,
  table: 'event_definition' | 'property_definition',
  { environmentId, id }: { environmentId: number; id: string },
): Promise<boolean> {
  const idOfRow = table === 'event_definition' ? eventDefinitionId : propertyDefinitionId;
  const rows = await tx.query(`SELECT 1 FROM ${table} d WHERE d.project_id = $1 AND ${idOfRow} = $2::uuid FOR UPDATE`, [
    environmentId,
    id,
  ]);
  return rows.length > 0;
}

const editColumns = [
  'description',
  'tags',
  'hidden',
  'verified',
  'verified_at',
  'verified_by_id',
  'updated_by_id',
] as const;
const eventColumns = [...editColumns, 'owner_id'] as const;
const propertyColumns = [...editColumns, 'property_type'] as const;

const assignments = (columns: readonly string[], first: number) =>
  columns.map((column, index) => `${column} = $${index + first}`).join(', ');

/**
 * Creates a definition for an event that has not been received yet.
 * @returns false if the name already has a definition
 */
export async function insertEventDefinition(
  tx: Transaction,
  { environmentId, name }: { environmentId: number; name: string },
  edits: EventEdits,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO event_definition (project_id, name, created_at, last_seen_at, ${eventColumns.join(', ')})
     VALUES ($1, $2, NULL, NULL, ${eventColumns.map((_, index) => `$${index + 3}`).join(', ')})
         ON CONFLICT (project_id, name) DO NOTHING RETURNING 1`,
    [environmentId, name, ...eventColumns.map((column) => edits[column])],
  );
  return rows.length > 0;
}

export async function updateEventDefinition(
  tx: Transaction,
  { environmentId, name }: { environmentId: number; name: string },
  edits: EventEdits,
): Promise<void> {
  await tx.query(
    `UPDATE event_definition SET updated_at = now(), ${assignments(eventColumns, 3)} WHERE project_id = $1 AND name = $2`,
    [environmentId, name, ...eventColumns.map((column) => edits[column])],
  );
}

export async function deleteEventDefinition(
  tx: Transaction,
  { environmentId, name }: { environmentId: number; name: string },
): Promise<void> {
  await tx.query('DELETE FROM event_definition WHERE project_id = $1 AND name = $2', [environmentId, name]);
}

type PropertyKey = Columns<'property_definition', 'type' | 'group_type_index' | 'name'>;

const ofProperty = 'project_id = $1 AND type = $2 AND group_type_index = $3 AND name = $4';

export async function updatePropertyDefinition(
  tx: Transaction,
  environmentId: number,
  { key, edits }: { key: PropertyKey; edits: PropertyEdits },
): Promise<void> {
  await tx.query(
    `UPDATE property_definition SET updated_at = now(), ${assignments(propertyColumns, 5)} WHERE ${ofProperty}`,
    [environmentId, key.type, key.group_type_index, key.name, ...propertyColumns.map((column) => edits[column])],
  );
}

export async function deletePropertyDefinition(
  tx: Transaction,
  environmentId: number,
  key: PropertyKey,
): Promise<void> {
  await tx.query(`DELETE FROM property_definition WHERE ${ofProperty}`, [
    environmentId,
    key.type,
    key.group_type_index,
    key.name,
  ]);
}
