import type { IncomingMessage } from 'node:http';
import { findClientAddress } from '../request-head.ts';

/** Request bodies that are being received or discarded. If there are many, they take turns on the event loop. */
export interface Uploads {
  /** Call this for each received chunk of a body. It may pause the request until its next turn. */
  notePiece(request: IncomingMessage, bytes: number): void;
  isPaused(request: IncomingMessage): boolean;
}

/**
 * How many bytes of all uploads are read in one round. Reading them takes about a millisecond of the round, and other
 * requests are served in the remaining time.
 */
const bytesPerRound = 1024 * 1024;
const roundMs = 2;
/** How many paused uploads are resumed in each round. One chunk of each fills a round. */
const resumedPerRound = 16;

/**
 * Shares the event loop fairly between uploads. If many clients upload at the same time, each round reads only a few of
 * them, and small requests and health checks are served between rounds. Client addresses take turns, and an address's
 * oldest upload is resumed first. A paused upload's data stays with the client, so it takes no memory in this process
 * or in the operating system.
 */
export function createUploads({ trustProxy }: { trustProxy: boolean }): Uploads {
  /** Paused requests by client address. The address whose turn is next comes first. */
  const pausedByAddress = new Map<string, IncomingMessage[]>();
  const paused = new WeakSet<IncomingMessage>();
  /** Requests whose body has been read in part. They go before other requests from the same address. */
  const started = new WeakSet<IncomingMessage>();
  let readBytes = 0;
  let isRoundScheduled = false;

  function startRound(): void {
    readBytes = 0;
    for (let resumed = 0; resumed < resumedPerRound; resumed++) {
      const [next] = pausedByAddress;
      if (next === undefined) break;
      const [address, requests] = next;
      pausedByAddress.delete(address);
      const request = requests.shift();
      if (requests.length > 0) pausedByAddress.set(address, requests);
      if (request === undefined) continue;
      started.add(request);
      paused.delete(request);
      request.resume();
    }
    isRoundScheduled = pausedByAddress.size > 0;
    if (isRoundScheduled) setTimeout(startRound, roundMs);
  }

  return {
    notePiece(request, bytes) {
      readBytes += bytes;
      if (!isRoundScheduled) {
        isRoundScheduled = true;
        setTimeout(startRound, roundMs);
      }
      if (readBytes <= bytesPerRound) return;
      request.pause();
      paused.add(request);
      const address = findClientAddress(request, { trustProxy }) ?? '';
      const requests = pausedByAddress.get(address) ?? [];
      pausedByAddress.set(address, requests);
      if (started.has(request)) requests.unshift(request);
      else requests.push(request);
    },
    isPaused: (request) => paused.has(request),
  };
}
