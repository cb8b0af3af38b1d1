// Terms that a newcomer searches for. Each term must lead to its file, and occur in few other files.

import { readRepositoryTexts } from '../docs/documents.ts';

const fileOfTerm: Readonly<Record<string, string>> = {
  backpressure: 'packages/event-log/src/append/append.ts',
  'circuit breaker': 'packages/event-log/src/append/breaker.ts',
  'consumer rebalance': 'packages/event-log/src/postgres/membership-store.ts',
  'dead-letter replay': 'packages/event-log/src/dead-letters.ts',
  'feature flag evaluation': 'packages/flags/src/evaluate/evaluate-flags.ts',
  idempotency: 'services/event-consumer/src/events/store.ts',
  'person merge': 'services/event-consumer/src/rules/merge.ts',
  'rate limiter': 'services/management-api/src/access/rate-limit.ts',
  'SAML assertion': 'services/management-api/src/identity/saml/check-response.ts',
  'session cookie': 'services/management-api/src/access/session-cookie.ts',
};
const maxFiles = 5;

/** Returns one line for each term that its file lacks, or that occurs in more than five files. */
export async function findTermProblems(root: string): Promise<string[]> {
  const { pages, sources } = await readRepositoryTexts(root);
  const files = [...pages, ...sources].filter(({ path }) => !path.startsWith('packages/stack/src/check/'));
  return Object.entries(fileOfTerm).flatMap(([term, path]) => {
    const found = files.filter(({ text }) => text.toLowerCase().includes(term.toLowerCase())).map((file) => file.path);
    if (!found.includes(path)) return [`${path}: must contain the term "${term}", so that a search finds it`];
    return found.length <= maxFiles ? [] : [`"${term}" occurs in ${found.length} files: ${found.join(', ')}`];
  });
}
