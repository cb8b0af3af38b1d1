import { randomUUID } from 'node:crypto';
import type { Database } from '@millrace/db';
import { type Finding, ok, warning } from '../finding.ts';

/** Whether a notification arrives: through a pooler in transaction mode none does. */
export async function checkNotifications(database: Pick<Database, 'listen'>): Promise<Finding[]> {
  let listener: ReturnType<Database['listen']> | undefined;
  const outcome = new Promise<Finding>((resolve) => {
    listener = database.listen({
      channel: `millrace_doctor_${randomUUID().replaceAll('-', '')}`,
      onMessage() {},
      onStart: () => resolve(ok('notifications arrive')),
      onInterrupted: (error) => resolve(notHeard(error)),
    });
  });
  try {
    return [await outcome];
  } finally {
    await listener?.stop();
  }
}

function notHeard(error: Error): Finding {
  return warning(
    `LISTEN does not work (${error.message.split('.')[0]}): changes of keys and settings are polled every second instead of being announced`,
    'give gateways and consumers a way to PostgreSQL past a pooler in transaction mode, or set the pooler to session mode',
  );
}
