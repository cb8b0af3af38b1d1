import cluster from 'node:cluster';

/**
 * Lets go of the process that started this one, before stopping: it holds the port as well, and must give it up before
 * the last process that takes connections does, or some come that nobody takes. Does nothing in a process that stands alone.
 */
export function leaveCluster(): void {
  const { worker } = cluster;
  if (worker === undefined || !process.connected) return;
  // Else Node ends the process with its channel.
  worker.exitedAfterDisconnect = true;
  process.disconnect();
}
