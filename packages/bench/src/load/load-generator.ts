/** The load generator's process: takes jobs as messages, so that its own work does not stand in the server's numbers. */
import type { LoadMessage } from './load-job.ts';
import { runLoad } from './run-load.ts';

process.on('message', (message: LoadMessage | { type: 'usage' }) => {
  if (message.type !== 'load') return;
  runLoad(message).then(
    (result) => process.send?.({ type: 'load-result', result }),
    (error: Error) => process.send?.({ type: 'load-failed', message: error.message }),
  );
});
process.send?.({ type: 'listening', port: 0 });
