import type { Release } from './release.ts';

/** How many pods of a component cannot work, and how many say that it is because a certificate has expired. */
export async function expiredPods(release: Release, component: string, called: string): Promise<string> {
  const pods = await release.pods(component);
  const waiting = pods.filter(({ isReady, isEnding }) => !isReady && !isEnding);
  const logs = await Promise.all(pods.map(({ name }) => release.kubectl('logs', name, '--tail=100').catch(() => '')));
  const named = logs.filter((log) => /certificate has expired|CERT_HAS_EXPIRED/.test(log));
  return `${waiting.length} of ${pods.length} ${called} unready, ${named.length} said that it had expired`;
}
