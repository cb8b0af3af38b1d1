import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import { useProject } from '../../frame/project.ts';

/** Returns the current project's organization, and the user's membership in it. */
export function useOrganization() {
  const { organization: id } = useProject();
  const { data: me } = useQuery(meQuery);
  return {
    id,
    path: `/api/organizations/${id}`,
    name: me?.organizations.find((one) => one.id === id)?.name ?? '',
    /** The user's level in the organization. The level in a project may be higher. */
    level: me?.organizations.find((one) => one.id === id)?.membership_level ?? 0,
    userUuid: me?.uuid,
  };
}

export const levels = [1, 8, 15] as const;
export const administrator = 8;
