import type { BuildOptions } from 'esbuild';

/**
 * Properties that only the library's own parts know, which bundles call by shorter names. None may be a name of the public
 * types, of the wire, of storage, or of what browsers have: tests/client/internal-names.test.ts holds them to that.
 */
export const internalNames = (
  'addGate addPageProperties addProperties anonymousDistinctId area captureSoon carryOut contentHeight ' +
  'delivery doesCookieWin emit eventProperties failures flushSoon followConsent forget hasProfile hurry ' +
  'initialPersonProperties isCapturing isFetched isGranted isIdentified isOpen isOptedOut isOwn isPersistent ' +
  'isPrivate isTimeout isTyped lastContent lastScroll learn maxContent maxScroll members moreOptions ' +
  'onHidden onOnline onReturn onSeen onTick onWanted parts pausedUntil perSecond putBack readOptions receive ' +
  'reloadIfChanged report requireProfile restart retryAfter schedule scriptHost settle signals snapshot startedAt ' +
  'startedMs superProperties tabStore takeHeld tell tellFormerId timeoutMs touch withElements'
).split(' ');

/** For esbuild. The same in each build, since scripts of one version talk to each other. */
export function shortNames(): Pick<BuildOptions, 'mangleProps' | 'mangleCache'> {
  const short = internalNames.map((name, at) => [name, `_${at.toString(36)}`]);
  return {
    mangleProps: new RegExp(`^(${internalNames.join('|')})$`),
    mangleCache: Object.fromEntries(short) as Record<string, string>,
  };
}
