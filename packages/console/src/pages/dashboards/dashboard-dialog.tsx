// A dashboard's dialogs, whose code is loaded when the user first opens one of them.

import { lazy, Suspense } from 'react';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { loadPageCode } from '../../frame/broken.tsx';
import { AsApiCall } from '../../parts/dialog.tsx';
import type { OfferUndo } from '../../records/undo.ts';
import type { DashboardAction } from './dashboard-menu.tsx';
import { DetailsDialog, FiltersDialog, RemoveDialog } from './dialogs.tsx';
import type { DashboardView, useDashboard } from './load.ts';
import type { Dashboard } from './shapes.ts';
import { text } from './words.ts';

const ShareDialog = lazy(
  loadPageCode(() => import('../../sharing/share-dialog.tsx').then((part) => ({ default: part.ShareDialog }))),
);

export type OpenDialog = Exclude<DashboardAction, 'full' | 'copy' | 'insight' | 'text'> | 'filters';

export function DashboardDialog({
  dialog,
  dashboard,
  path,
  request,
  view,
  shown,
  onView,
  onRemoved,
  onList,
  onClose,
}: Pick<ReturnType<typeof useDashboard>, 'path' | 'request'> & {
  dialog: OpenDialog;
  dashboard: Dashboard;
  view: DashboardView;
  shown: readonly unknown[];
  onView: (view: Partial<DashboardView>) => void;
  /** Called after the deletion, so that the list page can offer to undo it. */
  onRemoved: OfferUndo;
  onList: () => void;
  onClose: () => void;
}) {
  const name = escapeInvisible(dashboard.name || text.unnamed);
  switch (dialog) {
    case 'call':
      return <AsApiCall request={request} onClose={onClose} />;
    case 'share':
      return (
        <Suspense>
          <ShareDialog path={`dashboards/${dashboard.id}`} {...{ name, onClose }} />
        </Suspense>
      );
    case 'access':
      return <RecordAccessDialog path={`dashboards/${dashboard.id}`} {...{ name, onClose }} />;
    case 'details':
      return <DetailsDialog {...{ dashboard, path, onClose }} />;
    case 'remove': {
      const setDeleted = (deleted: boolean) => ({ method: 'PATCH', path, body: { deleted } }) as const;
      const done = () => {
        onRemoved(text.removed(name), [setDeleted(false)]);
        onList();
      };
      return <RemoveDialog {...{ name, onClose }} request={setDeleted(true)} onRemoved={done} />;
    }
    case 'filters': {
      const show = (next: Partial<DashboardView>) => {
        onClose();
        onView(next);
      };
      return (
        <FiltersDialog
          {...{ path, shown, onClose }}
          time={view.time}
          saved={dashboard.persisted_filters ?? {}}
          onShow={(filters) => show({ filters })}
          onSaved={() => show({ time: '', filters: null })}
        />
      );
    }
    default:
      return dialog satisfies never;
  }
}
