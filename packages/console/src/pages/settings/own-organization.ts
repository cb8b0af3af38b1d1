import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import { useProject } from '../../frame/project.ts';

/** Returns the organization of the open project, and the signed-in user's membership in it. */
export function useOrganization() {
  const { organization: id } = useProject();
  const { data: me } = useQuery(meQuery);
  return {
    id,
    path: `/api/organizations/${id}`,
    name: me?.organizations.find((one) => one.id === id)?.name ?? '',
    /** The user's level in the organization, which may be lower than in a project. */
    level: me?.organizations.find((one) => one.id === id)?.membership_level ?? 0,
    /** UUID of the user. */
    userUuid: me?.uuid,
  };
}

export const levels = [1, 8, 15] as const;
export const administrator = 8;
