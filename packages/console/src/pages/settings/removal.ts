import { useNavigate } from '@tanstack/react-router';
import { meQuery, queryClient } from '../../api/queries.ts';
import { callWithRecentSignIn } from './recent-sign-in.tsx';

/** Deletes the current environment, project or organization, and then opens the user's new current one. */
export function useRecordRemoval(): (path: string) => Promise<void> {
  const navigate = useNavigate();
  return async (path) => {
    await callWithRecentSignIn({ method: 'DELETE', path });
    await queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
    await navigate({ to: '/', replace: true });
  };
}
