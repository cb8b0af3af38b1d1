import { words } from '../words.ts';
import { Button } from './button.tsx';

/** A button below a list that loads more items. @param label a name for the items, if the page has several lists */
export function LoadMoreButton({
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
