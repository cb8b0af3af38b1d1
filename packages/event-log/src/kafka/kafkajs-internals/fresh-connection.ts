import Connection from 'kafkajs/src/network/connection.js';

/**
 * Reason: when a connection is cut in the middle of an answer, kafkajs 2.2.4 keeps what had arrived of it and takes the first
 * bytes of the next connection for the rest. From there on it reads sizes where there are none: requests go unanswered, or a
 * `RangeError` is thrown in the listener of a socket, where nobody can catch it and the process ends.
 * Relies on: `connect` of a connection, which is called for each new socket, and its `chunks`, `bytesBuffered` and
 * `bytesNeeded`, which say what has arrived and how much is waited for.
 * Witness: fresh-connection.test.ts. If kafkajs changes, `beginConnectionsAfresh` throws at start.
 * May go: when kafkajs forgets it by itself (https://github.com/tulios/kafkajs/issues/715).
 */

/** Bytes that say how long an answer is. */
const sizeBytes = 4;
let isCorrected = false;

/** @throws Error when kafkajs is not the one this was written for. */
export function beginConnectionsAfresh(): void {
  if (isCorrected) return;
  const { prototype } = Connection;
  const connect = prototype?.connect;
  if (typeof connect !== 'function' || typeof prototype.processData !== 'function') {
    throw new Error('kafkajs has changed its connections; how they begin needs to be looked at.');
  }
  prototype.connect = function connectAfresh(this: Connection) {
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: sizeBytes });
    return connect.call(this);
  };
  isCorrected = true;
}
