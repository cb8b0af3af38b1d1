import { isObject, membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/errors';

/** Access to one environment that an invite brings along. */
export interface ProjectGrant {
  /** Environment id. */
  id: number;
  /** 1 member or 8 administrator. */
  level: number;
}

const grantable: readonly number[] = [membershipLevels.member, membershipLevels.administrator];

/**
 * Reads `private_project_access` (docs/api-rules.md#invites). An empty list is as good as none.
 * @throws AppError `invalid` naming the field.
 */
export function parseProjectGrants(value: unknown): ProjectGrant[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw wrong('The field must be a list of dictionaries.');
  const grants = value.map(parseGrant);
  return grants.length === 0 ? null : combineGrants(grants, []);
}

function parseGrant(item: unknown): ProjectGrant {
  if (!isObject(item)) throw wrong('Each item in the list must be a dictionary.');
  const { id, level } = item;
  if (id === undefined || level === undefined) throw wrong('Each dictionary must contain "id" and "level" keys.');
  if (typeof id !== 'number' || !Number.isInteger(id)) throw wrong('The "id" field must be an integer.');
  if (typeof level !== 'number' || !grantable.includes(level)) {
    throw wrong('The "level" field must be either "member" or "admin".');
  }
  return { id, level };
}

/** Both lists as one, by id, with the higher level of an environment that is in both. */
export function combineGrants(grants: readonly ProjectGrant[], others: readonly ProjectGrant[]): ProjectGrant[] {
  const levels = new Map<number, number>();
  for (const { id, level } of [...grants, ...others]) levels.set(id, Math.max(level, levels.get(id) ?? 0));
  return [...levels].map(([id, level]) => ({ id, level })).sort((one, other) => one.id - other.id);
}

/**
 * Nobody grants what is not theirs to grant.
 * @param levels the inviter's own level on each environment of the organization that the inviter can see.
 * @throws AppError `invalid` naming the field.
 */
export function checkGrants(grants: readonly ProjectGrant[], levels: ReadonlyMap<number, number>): void {
  for (const { id, level } of grants) {
    const own = levels.get(id);
    if (own === undefined) {
      throw wrong('Project does not exist on this organization, or it is private and you do not have access to it.');
    }
    if (level > own) throw wrong('You cannot invite to a private project with a higher level than your own.');
  }
}

function wrong(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr: 'private_project_access' });
}
