import { citationProblems } from './citation-problems.ts';
import { linkProblems } from './link-problems.ts';
import { pathProblems } from './path-problems.ts';
import { repositoryTexts } from './repository-texts.ts';

/** Whatever the documents point to, and whatever points to them, that is not there. One line for each. */
export async function documentProblems(root: string): Promise<string[]> {
  const texts = await repositoryTexts(root);
  return [...linkProblems(root, texts.pages), ...pathProblems(root, texts), ...citationProblems(texts)];
}
