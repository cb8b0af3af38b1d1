import { useNavigate } from '@tanstack/react-router';
import { meQuery, queryClient } from '../../api/queries.ts';
import { callRecently } from './recent-sign-in.tsx';

/** Deletes the open record or its parent, and then opens the record that the server has made the current one. */
export function useRemoval(): (path: string) => Promise<void> {
  const navigate = useNavigate();
  return async (path) => {
    await callRecently({ method: 'DELETE', path });
    await queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
    await navigate({ to: '/', replace: true });
  };
}
