import cluster from 'node:cluster';

/**
 * Disconnects from the primary process before this one stops. The primary holds the port as well. If it held it longer
 * than the last process that takes connections, some connections would come that nobody takes. Does nothing in a
 * process that runs alone.
 */
export function leaveCluster(): void {
  const { worker } = cluster;
  if (worker === undefined || !process.connected) return;
  // Otherwise Node ends the process together with its channel.
  worker.exitedAfterDisconnect = true;
  process.disconnect();
}
