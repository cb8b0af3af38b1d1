import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import { useProject } from '../../frame/project.ts';

/** Returns the current project's organization, and the user's membership level in it. */
export function useOrganization() {
  const { organization: id } = useProject();
  const { data: me } = useQuery(meQuery);
  return {
    id,
    path: `/api/organizations/${id}`,
    name: me?.organizations.find((one) => one.id === id)?.name ?? '',
    /** Membership level in the organization. The user's level in a project may be higher. */
    level: me?.organizations.find((one) => one.id === id)?.membership_level ?? 0,
    userUuid: me?.uuid,
  };
}

export const levels = [1, 8, 15] as const;
export const administrator = 8;
