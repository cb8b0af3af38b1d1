import type { BuildOptions } from 'esbuild';

/**
 * Properties that only the library's own parts know, which bundles call by shorter names. None may be a name of the public
 * types, of the wire, of storage, or of what browsers have: tests/client/internal-names.test.ts holds them to that.
 */
export const internalNames = (
  'addGate addProperties anonymousDistinctId carryOut contentHeight doesCookieWin emit eventProperties ' +
  'failures followConsent hasProfile hurry initialPersonProperties isCapturing isFetched isIdentified isOpen ' +
  'isOptedOut isOwn isPersistent isStopped isTimeout isTyped lastContent lastScroll learn maxContent maxScroll ' +
  'moreOptions onHidden onOnline onReturn onSeen onTick onWanted pausedUntil perSecond putBack readOptions ' +
  'requireProfile restart retryAfter schedule scriptHost signals startedAt startedMs superProperties tabStore ' +
  'takeHeld tellFormerId timeoutMs touch withElements'
).split(' ');

/** For esbuild. The same in each build, since scripts of one version talk to each other. */
export function shortNames(): Pick<BuildOptions, 'mangleProps' | 'mangleCache'> {
  const short = internalNames.map((name, at) => [name, `_${at.toString(36)}`]);
  return {
    mangleProps: new RegExp(`^(${internalNames.join('|')})$`),
    mangleCache: Object.fromEntries(short) as Record<string, string>,
  };
}
