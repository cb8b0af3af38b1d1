import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/request.ts';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState, QueryContent } from '../../parts/states.tsx';
import type { Flag, Page } from './flag.ts';
import { text } from './words.ts';

/** Shown if the list of flags is empty. Explains how to create the first flag, or links to the archived flags. */
export function EmptyFlags({ onNew, onArchived }: { onNew: () => void; onArchived: () => void }) {
  const { id } = useProject();
  const archived = useQuery({
    queryKey: ['flags', id, 'archived'],
    queryFn: ({ signal }) =>
      call<Page<Flag>>({ path: `/api/projects/${id}/feature_flags`, query: { archived: 'true', limit: 1 } }, signal),
  });
  return (
    <QueryContent query={archived} what={text.what}>
      {({ count }) =>
        count > 0 ? <OnlyArchived count={count} onArchived={onArchived} onNew={onNew} /> : <NoneYet onNew={onNew} />
      }
    </QueryContent>
  );
}

function OnlyArchived({ count, onArchived, onNew }: { count: number; onArchived: () => void; onNew: () => void }) {
  return (
    <EmptyState title={text.archivedTitle} icon="flags">
      <p className="quiet">{text.archivedOnly(count)}</p>
      <div className="form-buttons">
        <Button onPress={onArchived}>{text.showArchived}</Button>
        <Button onPress={onNew}>{text.newFlag}</Button>
      </div>
    </EmptyState>
  );
}

function NoneYet({ onNew }: { onNew: () => void }) {
  return (
    <EmptyState title={text.emptyTitle} icon="flags">
      <p className="quiet">{text.empty}</p>
      <p className="quiet">{text.emptyExample}</p>
      <div className="form-buttons">
        <Button onPress={onNew}>{text.newFlag}</Button>
      </div>
    </EmptyState>
  );
}
