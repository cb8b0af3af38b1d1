import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { type ApiCall, call } from '../api/request.ts';
import { useProject } from '../frame/project.ts';

/** Sends a change of an insight or a dashboard. Each says what is of the other: both are asked for again, also when it was refused. */
export function useChange<Answer>(onDone?: (answer: Answer) => void) {
  const { id } = useProject();
  return useMutation({
    mutationFn: (request: ApiCall) => call<Answer>(request),
    onSuccess: (answer) => onDone?.(answer),
    onSettled: () =>
      Promise.all(['dashboards', 'insights'].map((name) => queryClient.invalidateQueries({ queryKey: [name, id] }))),
  });
}
