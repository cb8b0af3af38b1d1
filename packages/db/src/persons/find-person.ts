import { AppError } from '@millrace/errors';
import type { Sql } from '../transaction.ts';
import { type FoundPerson, findPersons } from './find-person-store.ts';

/** The person an id names: its uuid, its number or one of its distinct ids, in this order. @throws AppError `not_found`. */
export async function findPerson(sql: Sql, projectId: number, id: string): Promise<FoundPerson> {
  const [found] = await candidates(sql, projectId, id);
  if (found === undefined) throw personNotFound();
  return found;
}

/**
 * The same for what cannot be undone: who means the distinct id 42 must not lose person number 42.
 * @throws AppError `not_found`, or `invalid` when it is the id of one person and a distinct id of another.
 */
export async function findPersonToDelete(sql: Sql, projectId: number, id: string): Promise<FoundPerson> {
  const [found, other] = await candidates(sql, projectId, id);
  if (found === undefined) throw personNotFound();
  if (other !== undefined && other.uuid !== found.uuid) {
    const detail = `This is the ${found.by} of one person and a distinct id of another; name it by its uuid.`;
    throw new AppError('invalid', detail, { attr: 'id' });
  }
  return found;
}

function personNotFound(): AppError {
  return new AppError('not_found', 'Not found.', { details: { resource: 'Person' } });
}

/** PostgreSQL knows no NUL character, so no id has one. */
async function candidates(sql: Sql, projectId: number, id: string): Promise<FoundPerson[]> {
  return id.includes('\u0000') ? [] : findPersons(sql, projectId, id);
}
