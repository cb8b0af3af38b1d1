// A saved insight's actions, such as sharing, copying and deleting, and their dialogs.

import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { text as accessText } from '../../access/words.ts';
import { loadPageCode } from '../../frame/broken.tsx';
import { useProject } from '../../frame/project.ts';
import { Button } from '../../parts/button.tsx';
import type { OfferUndo } from '../../records/undo.ts';
import { getInsightName } from '../../results/insight-query.ts';
import { text as sharingText } from '../../sharing/words.ts';
import { AddToDashboardMenu } from './add-to-dashboard-menu.tsx';
import { RemoveDialog, SaveDialog } from './dialogs.tsx';
import type { Insight } from './view.ts';
import { text } from './words.ts';

const ShareDialog = lazy(
  loadPageCode(() => import('../../sharing/share-dialog.tsx').then((part) => ({ default: part.ShareDialog }))),
);

export type DialogOfInsight = 'save' | 'copy' | 'details' | 'share' | 'access' | 'remove';

export function InsightActions({
  stored,
  offerUndo,
  onDialog,
}: {
  stored: Insight;
  offerUndo: OfferUndo;
  onDialog: (dialog: DialogOfInsight) => void;
}) {
  const { id } = useProject();
  return (
    <div className="form-buttons">
      <AddToDashboardMenu {...{ stored, offerUndo }} />
      <Button onPress={() => onDialog('share')}>{sharingText.open}</Button>
      <Link
        className="button"
        to={`/projects/${id}/settings/subscriptions`}
        search={{ open: 'new', insight: String(stored.id) } as never}
      >
        {text.subscribe}
      </Link>
      <Button look="plain" onPress={() => onDialog('access')}>
        {accessText.open}
      </Button>
      <Button look="plain" onPress={() => onDialog('copy')}>
        {text.saveAs}
      </Button>
      <Button look="plain" onPress={() => onDialog('remove')}>
        {text.remove}
      </Button>
    </div>
  );
}

export function InsightDialog({
  dialog,
  stored,
  query,
  suggestion = '',
  offerUndo,
  onSaved,
  onRemoved,
  onClose,
}: {
  stored: Insight | null;
  offerUndo: OfferUndo;
  dialog: DialogOfInsight;
  query: unknown;
  suggestion?: string;
  onSaved: (saved: Insight) => void;
  onRemoved: () => void;
  onClose: () => void;
}) {
  const { id } = useProject();
  if (stored === null || dialog === 'save' || dialog === 'copy')
    return <SaveDialog stored={null} copied={stored} {...{ query, suggestion, onSaved, onClose }} />;
  switch (dialog) {
    case 'details':
      return <SaveDialog {...{ stored, query, onSaved, onClose }} />;
    case 'share':
      return (
        <Suspense>
          <ShareDialog path={`insights/${stored.id}`} name={getInsightName(stored)} onClose={onClose} />
        </Suspense>
      );
    case 'access':
      return <RecordAccessDialog path={`insights/${stored.id}`} name={getInsightName(stored)} onClose={onClose} />;
    case 'remove':
      return (
        <RemoveDialog
          stored={stored}
          onRemoved={() => {
            onRemoved();
            const body = { deleted: false, dashboards: stored.dashboards };
            offerUndo(text.removed(getInsightName(stored)), [
              { method: 'PATCH', path: `/api/projects/${id}/insights/${stored.id}`, body },
            ]);
          }}
          onClose={onClose}
        />
      );
    default:
      return dialog satisfies never;
  }
}
