import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryTexts } from './repository-texts.ts';

const namedPath = /`((?:packages|services|test-e2e|prisma|deploy|docs)\/[\w./-]*\w|[\w/-]+\/[\w.-]+\.(?:ts|sql))\/?`/g;

/** Named by a document because they are not there. */
const plannedPaths = new Set(['packages/browser', 'packages/react']);

/** Paths of the repository that a document names and that are not there, neither whole nor without their first folders. */
export function pathProblems(root: string, { pages, sources }: RepositoryTexts): string[] {
  const isThere = (named: string) =>
    plannedPaths.has(named) || existsSync(join(root, named)) || sources.some(({ path }) => path.endsWith(`/${named}`));
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(namedPath)]
      .map(([, named = '']) => named)
      .filter((named) => !isThere(named))
      .map((named) => `${path}: names ${named}, which is not there`),
  );
}
