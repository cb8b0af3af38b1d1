import type { BuildOptions } from 'esbuild';

/**
 * Internal property names that bundles shorten. `tests/client/internal-names.test.ts` checks that the list contains no
 * names from the public types, the wire format, stored data or browser APIs.
 */
export const internalNames = (
  'addGate addPageProperties addProperties anonymousDistinctId area captureSoon carryOut contentHeight ' +
  'delivery doesCookieWin emit eventProperties failures flushSoon followConsent forget hasProfile hurry ' +
  'initialPersonProperties isCapturing isFetched isGranted isIdentified isOpen isOptedOut isOwn isPersistent ' +
  'isPrivate isTimeout isTyped lastContent lastScroll learn maxContent maxScroll members fullBuildOptions ' +
  'onHidden onOnline onReturn onSeen onTick onWanted parts pausedUntil perSecond putBack readOptions receive ' +
  'reloadIfChanged report requireProfile restart retryAfter schedule scriptHost settle signals snapshot startedAt ' +
  'startedMs superProperties tabStore takeHeld tell tellFormerId timeoutMs touch withElements'
).split(' ');

/**
 * Returns esbuild options that shorten the internal names. Each build assigns the same short names, because the scripts
 * of a version access each other's properties.
 */
export function createNameMangling(): Pick<BuildOptions, 'mangleProps' | 'mangleCache'> {
  const short = internalNames.map((name, at) => [name, `_${at.toString(36)}`]);
  return {
    mangleProps: new RegExp(`^(${internalNames.join('|')})$`),
    mangleCache: Object.fromEntries(short) as Record<string, string>,
  };
}
