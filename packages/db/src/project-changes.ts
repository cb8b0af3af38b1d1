// Notifies a process when project data that it caches has changed: keys, settings or plans.

import { type ProjectChange, parseProjectChange, projectChangeChannel } from '@millrace/contracts';
import type { Logger, Metrics, Stoppable } from '@millrace/runtime';
import type { SqlDatabase } from './sql-database.ts';

export interface ProjectChanges extends Stoppable {
  /**
   * Registers a callback that is called shortly after each change is committed, whichever program made it. The argument
   * is null if anything may have changed, for example after an interruption. `onChange` must not throw.
   */
  subscribe(onChange: (change: ProjectChange | null) => void): void;
  /** Returns false while change notifications may be missed. Cached data then expires after `unsubscribedMaxAgeMs`. */
  isSubscribed(): boolean;
}

/** While change notifications may be missed, cached data can be used for this many milliseconds. */
export const unsubscribedMaxAgeMs = 1000;

export interface ProjectChangesOptions {
  database: Pick<SqlDatabase, 'listen'>;
  logger: Logger;
  metrics: Metrics;
}

/** Watches for project changes on one connection for the whole process. Can start while the database is down. */
export function watchProjectChanges({ database, logger, metrics }: ProjectChangesOptions): ProjectChanges {
  const subscribers: ((change: ProjectChange | null) => void)[] = [];
  const received = metrics.gauge(
    'millrace_project_changes_subscribed',
    '1 while the process receives notifications from PostgreSQL about changed keys and settings, 0 while it polls every second instead',
  );
  const notify = (change: ProjectChange | null) => {
    for (const onChange of subscribers) onChange(change);
  };
  received.set(0);
  const listener = database.listen({
    channel: projectChangeChannel,
    onMessage: (payload) => notify(parseProjectChange(payload)),
    onStart() {
      logger.info('receiving PostgreSQL notifications about changed keys and settings');
      received.set(1);
      notify(null);
    },
    onInterrupted(error) {
      logger.warn('no PostgreSQL notifications about changed keys and settings: polling every second instead', {
        error,
      });
      received.set(0);
    },
  });
  return {
    subscribe: (onChange) => void subscribers.push(onChange),
    isSubscribed: listener.isListening,
    stop: listener.stop,
  };
}
