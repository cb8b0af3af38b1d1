import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../api/queries.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';

/** Loads what the page shows again, and says while it does. A failure is shown where the data are (`Loaded`). @param keys of the queries */
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
