import { type ProjectChange, parseProjectChange, projectChangeChannel } from '@millrace/contracts';
import type { Logger, Metrics, Stoppable } from '@millrace/runtime';
import type { SqlDatabase } from './sql-database.ts';

/** Changes of what processes remember about projects: keys, settings, plans. */
export interface ProjectChanges extends Stoppable {
  /**
   * Calls back for every change shortly after its commit, whoever made it, with null when anything may have changed, as
   * after an interruption. `onChange` must not throw.
   */
  subscribe(onChange: (change: ProjectChange | null) => void): void;
  /**
   * False while changes are missed: remembered answers then have to be asked for again soon (`unsubscribedMaxAgeMs`).
   */
  isSubscribed(): boolean;
}

/** How long an answer may be used while changes are missed. */
export const unsubscribedMaxAgeMs = 1000;

export interface ProjectChangesOptions {
  database: Pick<SqlDatabase, 'listen'>;
  logger: Logger;
  metrics: Metrics;
}

/** One connection for the whole process. Starts without the database. */
export function watchProjectChanges({ database, logger, metrics }: ProjectChangesOptions): ProjectChanges {
  const subscribers: ((change: ProjectChange | null) => void)[] = [];
  const received = metrics.gauge(
    'millrace_project_changes_heard',
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
