import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';

/**
 * Changes an insight, dashboard or flag. Reloads all records of these types, because they contain each other's data.
 */
export function useRecordChange<Result>(onDone?: (result: Result) => void) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (request: ApiCall) => call<Result>(request),
    onSuccess: (result) => onDone?.(result),
    onSettled: refresh,
  });
}

export function useRecordChanges(onDone?: () => void) {
  const refresh = useRefresh();
  return useMutation({
    async mutationFn(requests: readonly ApiCall[]) {
      for (const request of requests) await call(request);
    },
    onSuccess: () => onDone?.(),
    onSettled: refresh,
  });
}

function useRefresh() {
  const { id } = useProject();
  return () =>
    Promise.all(
      ['dashboards', 'insights', 'flags'].map((name) => queryClient.invalidateQueries({ queryKey: [name, id] })),
    );
}
