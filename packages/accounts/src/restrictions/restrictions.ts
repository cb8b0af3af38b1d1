// Ingestion restrictions. Operators use them to change how Millrace handles events with a given project API key or
// distinct ID.

import { isRestrictionKind, type RestrictionKind, restrictionKinds } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import { checkText, invalidField, isUuid, notFound } from '../input.ts';
import { deleteRestriction, type Restriction, selectRestrictions, upsertRestriction } from './restriction-store.ts';

export interface NewRestriction {
  kind: RestrictionKind;
  /** The project API key. It does not have to exist. */
  token: string;
  /** The distinct ID that the restriction applies to, or null for all events with the key. */
  distinctId: string | null;
  /** The reason for the restriction, as a note for other operators. At most 400 characters. */
  note?: string;
}

/**
 * Adds an ingestion restriction. If it already exists, only updates its note, and only if a note is given.
 * @throws AppError `invalid` naming `kind`, `token`, `distinct_id` or `note`
 */
export async function addRestriction(sql: Sql, input: NewRestriction): Promise<Restriction> {
  const { kind, distinctId, note } = input;
  if (!isRestrictionKind(kind)) {
    throw invalidField('kind', 'invalid_choice', `"${kind}" is not a valid choice: ${restrictionKinds.join(', ')}.`);
  }
  const token = checkText('token', input.token, { maxLength: 200 });
  const distinct_id = distinctId === null ? '' : checkDistinctId(distinctId);
  const described = note === undefined ? null : checkText('note', note, { maxLength: 400, isBlankAllowed: true });
  return upsertRestriction(sql, { id: uuidv7(), kind, token, distinct_id, note: described });
}

export async function listRestrictions(sql: Sql): Promise<Restriction[]> {
  return selectRestrictions(sql);
}

/**
 * Removes a restriction.
 * @returns the removed restriction
 * @throws AppError `not_found`
 */
export async function removeRestriction(sql: Sql, id: string): Promise<Restriction> {
  const removed = isUuid(id) ? await deleteRestriction(sql, id) : undefined;
  if (!removed) throw notFound('Restriction');
  return removed;
}

/** Keeps surrounding whitespace, because the gateway's comparison of distinct IDs includes it. */
function checkDistinctId(distinctId: string): string {
  checkText('distinct_id', distinctId, { maxLength: 400 });
  return distinctId;
}
