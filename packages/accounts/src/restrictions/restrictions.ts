import { isRestrictionKind, type RestrictionKind, restrictionKinds } from '@millrace/contracts';
import type { ingestion_restriction } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';
import type { AccountClient } from '../input/account-client.ts';
import { isRowMissing, notFound } from '../input/account-errors.ts';
import { checkText, invalidField, isUuid } from '../input/account-input.ts';

export interface NewRestriction {
  kind: RestrictionKind;
  /** Project API key, whether or not a project has it. */
  token: string;
  /** Null: all events of the key. */
  distinctId: string | null;
  /** Why, for other operators; at most 400 characters. */
  note?: string;
}

/**
 * Adds an entry to the operator's lists. One that is there already stays, with the new note if there is one.
 * @throws AppError `invalid` naming `kind`, `token`, `distinct_id` or `note`.
 */
export async function addRestriction(client: AccountClient, input: NewRestriction): Promise<ingestion_restriction> {
  const { kind, distinctId, note } = input;
  if (!isRestrictionKind(kind)) {
    throw invalidField('kind', 'invalid_choice', `"${kind}" is not a valid choice: ${restrictionKinds.join(', ')}.`);
  }
  const token = checkText('token', input.token, { maxLength: 200 });
  const distinct_id = distinctId === null ? '' : checkDistinctId(distinctId);
  const described =
    note === undefined ? {} : { note: checkText('note', note, { maxLength: 400, isBlankAllowed: true }) };
  return client.ingestion_restriction.upsert({
    where: { token_distinct_id_kind: { token, distinct_id, kind } },
    create: { id: uuidv7(), kind, token, distinct_id, ...described },
    update: described,
  });
}

/** Oldest first. */
export async function listRestrictions(client: AccountClient): Promise<ingestion_restriction[]> {
  return client.ingestion_restriction.findMany({ orderBy: [{ created_at: 'asc' }, { id: 'asc' }] });
}

/** @returns what was removed. @throws AppError `not_found`. */
export async function removeRestriction(client: AccountClient, id: string): Promise<ingestion_restriction> {
  if (!isUuid(id)) throw notFound('Restriction');
  try {
    return await client.ingestion_restriction.delete({ where: { id } });
  } catch (error) {
    throw isRowMissing(error) ? notFound('Restriction', error) : error;
  }
}

/** As the gateway compares it: white space counts. */
function checkDistinctId(distinctId: string): string {
  checkText('distinct_id', distinctId, { maxLength: 400 });
  return distinctId;
}
