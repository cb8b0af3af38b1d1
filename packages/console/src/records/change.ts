import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';

/** Sends a change of an insight, a dashboard or a flag. Each says what is of the others: all are asked for again, also when it was refused. */
export function useChange<Answer>(onDone?: (answer: Answer) => void) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (request: ApiCall) => call<Answer>(request),
    onSuccess: (answer) => onDone?.(answer),
    onSettled: refresh,
  });
}

/** Sends several of them, one after the other. */
export function useChanges(onDone?: () => void) {
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
