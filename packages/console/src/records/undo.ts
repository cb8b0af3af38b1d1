// Shows a message after records have been changed, with a button for undoing the change.

import { useState } from 'react';
import type { ApiCall } from '../api/request.ts';
import type { Notice } from '../parts/notice.tsx';
import { explainError } from '../parts/states.tsx';
import { useRecordChanges } from './change.ts';

/** @param text the message that confirms the change @param requests the requests that undo the change */
export type OfferUndo = (text: string, requests: readonly ApiCall[]) => void;

/** Returns the message to show, which may be an error, and a function that offers to undo a change. */
export function useUndo(): { notice: Notice | null; offerUndo: OfferUndo; clear: () => void } {
  const [notice, setNotice] = useState<Notice | null>(null);
  const restore = useRecordChanges();
  return {
    notice: restore.error ? { text: explainError(restore.error), isBad: true } : notice,
    offerUndo(text, requests) {
      restore.reset();
      setNotice({ text, undo: () => restore.mutate(requests) });
    },
    clear() {
      restore.reset();
      setNotice(null);
    },
  };
}
