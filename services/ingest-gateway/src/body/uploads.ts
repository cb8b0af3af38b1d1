import type { IncomingMessage } from 'node:http';
import { findClientAddress } from '../request-head.ts';

/** The request bodies that are being received or discarded. If there are many, they take turns on the event loop. */
export interface Uploads {
  /**
   * Counts a received chunk of a body, and may pause the request until its next turn. Call this function for each
   * chunk.
   */
  notePiece(request: IncomingMessage, bytes: number): void;
  isPaused(request: IncomingMessage): boolean;
}

/**
 * The number of bytes that are read from all uploads together in one round. Reading them takes about a millisecond. The
 * rest of the round is for other requests.
 */
const bytesPerRound = 1024 * 1024;
const roundMs = 2;
/** The number of paused uploads that are resumed in each round. One piece of each of them fills a round. */
const resumedPerRound = 16;

/**
 * Shares the event loop fairly between uploads. If many clients upload at the same time, only a few uploads are read in
 * each round. The addresses take turns, and for each address, the upload that started first is resumed first. Small
 * requests and health checks are served between the rounds. The data of paused uploads stays with the clients, so it
 * takes no memory in this process or in the operating system.
 */
export function createUploads({ trustProxy }: { trustProxy: boolean }): Uploads {
  /** Paused requests, grouped by client address. The first address is resumed next. */
  const pausedByAddress = new Map<string, IncomingMessage[]>();
  const paused = new WeakSet<IncomingMessage>();
  /** The requests whose bodies were read in part. They continue before other requests from the same address start. */
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
