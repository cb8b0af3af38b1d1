import { words } from '../words.ts';
import { Button } from './button.tsx';

/** Below a list of which there is more. @param label where it says of what */
export function More({
  query,
  label = words.more,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  label?: string;
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className="form-buttons list-more">
      <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
        {label}
      </Button>
    </div>
  );
}
