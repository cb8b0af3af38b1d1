import { createHmac } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

/** What tells visitors of a project apart who have no cookie. */
export interface VisitorTraits {
  projectId: number;
  ip: string;
  rootDomain: string;
  userAgent: string;
  /** A value of the project's own, to tell apart visitors who share everything else. */
  extra: string;
}

/** Ids that are the same for all events of a visitor on one day. */
export interface VisitorIds {
  distinctId: string;
  deviceId: string;
  /** A visitor has one session a day: a version 7 UUID of the beginning of the day. */
  sessionId: string;
}

const hashBytes = 16;
const maxExtra = 100;

/** @param dayStartMs of the visitor's day, milliseconds since the epoch. */
export function visitorIds(salt: Buffer, traits: VisitorTraits, dayStartMs: number): VisitorIds {
  const { projectId, ip, rootDomain, userAgent, extra } = traits;
  const hash = createHmac('sha256', salt)
    // As JSON no two visitors give one text.
    .update(JSON.stringify([projectId, ip, rootDomain, userAgent, extra.slice(0, maxExtra)]))
    .digest();
  const id = hash.toString('base64url', 0, hashBytes);
  const random = hash.subarray(hashBytes, 2 * hashBytes);
  return {
    distinctId: `cookieless_${id}`,
    deviceId: `cookielessd_${id}`,
    sessionId: uuidV7({ msecs: Math.max(0, dayStartMs), random }),
  };
}
