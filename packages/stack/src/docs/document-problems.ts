import { citationProblems } from './citation-problems.ts';
import { linkProblems } from './link-problems.ts';
import { pathProblems } from './path-problems.ts';
import { repositoryTexts } from './repository-texts.ts';

/** Goes with the last of these citations. */
const stillCited =
  /cites (?:\S*(?:management-api|ingestion|event-processing|ingest-wire|sdk-wire)\.md|(?:reference|contract) )/i;

/** Whatever the documents point to, and whatever points to them, that is not there. One line for each. */
export async function documentProblems(root: string): Promise<string[]> {
  const texts = await repositoryTexts(root);
  const citations = citationProblems(texts).filter((problem) => !stillCited.test(problem));
  return [...linkProblems(root, texts.pages), ...pathProblems(root, texts), ...citations];
}
