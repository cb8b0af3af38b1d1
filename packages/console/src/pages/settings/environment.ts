// Reads and changes the settings of the current environment.

import { useMutation } from '@tanstack/react-query';
import { meQuery, type Project, projectQuery, queryClient } from '../../api/queries.ts';
import type { ApiCall } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { callWithRecentSignIn } from './recent-sign-in.tsx';

export type Environment = Project & Record<string, unknown>;

export const useEnvironmentPath = () => `/api/environments/${useProject().id}`;

/** Changes the current environment or its project, and then reloads the page's data. */
export function useEnvironmentChange<Result>({ onDone }: { onDone?: (result: Result) => void } = {}) {
  const { id } = useProject();
  return useMutation({
    mutationFn: (request: ApiCall) => callWithRecentSignIn<Result>(request),
    onSuccess: async (result) => {
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: projectQuery(String(id)).queryKey }),
        queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
      ]);
      onDone?.(result);
    },
  });
}
