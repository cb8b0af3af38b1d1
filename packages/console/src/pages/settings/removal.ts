import { useNavigate } from '@tanstack/react-router';
import { meQuery, queryClient } from '../../api/queries.ts';
import { callRecently } from './recent-sign-in.tsx';

/** Deletes what is open, or what it belongs to, and goes on with what the server then calls the current place. */
export function useRemoval(): (path: string) => Promise<void> {
  const navigate = useNavigate();
  return async (path) => {
    await callRecently({ method: 'DELETE', path });
    await queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
    await navigate({ to: '/', replace: true });
  };
}
