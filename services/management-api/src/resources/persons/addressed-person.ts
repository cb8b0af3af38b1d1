import { type FoundPerson, findPersons, type Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';

/** The person a path names by its uuid, number or distinct id. @throws AppError `not_found`. */
export async function addressedPerson(sql: Sql, projectId: number, id: string): Promise<FoundPerson> {
  // PostgreSQL knows no NUL character, so no id has one.
  const [found] = id.includes('\u0000') ? [] : await findPersons(sql, projectId, id);
  if (found === undefined) throw new AppError('not_found', 'Not found.');
  return found;
}
