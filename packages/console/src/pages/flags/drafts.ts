import { useSyncExternalStore } from 'react';
import type { Drafts, KeptDraft } from './flag.ts';

/** What was typed and not saved, by project. It stays while other pages are open, until the console is closed or reloaded. */
const draftsOf = new Map<number, Drafts>();
const none: Drafts = new Map();
const watchers = new Set<() => void>();

function watch(watcher: () => void) {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/** Keeps the draft of a flag. @param draft null: it was saved or discarded */
function keepDraft(projectId: number, id: string, draft: KeptDraft | null): void {
  const next = new Map(draftsOf.get(projectId));
  if (draft === null) next.delete(id);
  else next.set(id, draft);
  draftsOf.set(projectId, next);
  // The browser asks before the tab is closed or reloaded.
  removeEventListener('beforeunload', warn);
  if ([...draftsOf.values()].some(({ size }) => size > 0)) addEventListener('beforeunload', warn);
  for (const watcher of watchers) watcher();
}

/** The unsaved drafts of a project. */
export function useDrafts(projectId: number) {
  const drafts = useSyncExternalStore(watch, () => draftsOf.get(projectId) ?? none);
  return { drafts, keepDraft: (id: string, draft: KeptDraft | null) => keepDraft(projectId, id, draft) };
}
