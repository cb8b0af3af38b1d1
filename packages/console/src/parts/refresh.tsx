import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';

/**
 * A button that reloads the queries with the given keys, and shows while they are loading. Errors appear where the page
 * shows the query's data (`QueryContent`).
 */
export function RefreshButton({ keys }: { keys: readonly (readonly unknown[])[] }) {
  const refresh = useMutation({
    mutationFn: () => Promise.all(keys.map((queryKey) => queryClient.refetchQueries({ queryKey, type: 'active' }))),
  });
  return (
    <Button onPress={() => refresh.isPending || refresh.mutate()}>
      <span aria-live="polite">{refresh.isPending ? words.refreshing : words.refresh}</span>
    </Button>
  );
}
