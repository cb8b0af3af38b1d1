import { useSyncExternalStore } from 'react';

/** Unsaved edits to records of one type, by project and record ID. */
interface DraftStore<Draft> {
  use(projectId: number): ReadonlyMap<string, Draft>;
  /** Stores a draft, or discards the stored draft if `draft` is null. */
  keep(projectId: number, id: string, draft: Draft | null): void;
}

/**
 * Creates a store for drafts. Drafts are kept while the user visits other pages. The browser warns the user before
 * closing or reloading a tab with drafts.
 * @param shouldWarn a function that returns whether to warn about a record's draft
 */
export function createDrafts<Draft>(shouldWarn: (id: string) => boolean = () => true): DraftStore<Draft> {
  const none: ReadonlyMap<string, Draft> = new Map();
  const byProject = new Map<number, ReadonlyMap<string, Draft>>();
  const watchers = new Set<() => void>();
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  return {
    use: (projectId) =>
      useSyncExternalStore(
        (watcher) => {
          watchers.add(watcher);
          return () => watchers.delete(watcher);
        },
        () => byProject.get(projectId) ?? none,
      ),
    keep(projectId, id, draft) {
      const before = byProject.get(projectId) ?? none;
      if (draft === null && !before.has(id)) return;
      const next = new Map(before);
      if (draft === null) next.delete(id);
      else next.set(id, draft);
      byProject.set(projectId, next);
      const hasAny = [...byProject.values()].some((drafts) => [...drafts.keys()].some(shouldWarn));
      if (hasAny) addEventListener('beforeunload', warn);
      else removeEventListener('beforeunload', warn);
      for (const watcher of watchers) watcher();
    },
  };
}
