import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/queries.ts';
import { useProject } from '../../frame/project.ts';

/** The organization of the project that is open, and who asks. */
export function useOrganization() {
  const { organization: id } = useProject();
  const { data: me } = useQuery(meQuery);
  return {
    id,
    path: `/api/organizations/${id}`,
    name: me?.organizations.find((one) => one.id === id)?.name ?? '',
    /** Of the caller in the organization, which may be less than in a single project. */
    level: me?.organizations.find((one) => one.id === id)?.membership_level ?? 0,
    /** Of the caller. */
    userUuid: me?.uuid,
  };
}

export const levels = [1, 8, 15] as const;
export const administrator = 8;
