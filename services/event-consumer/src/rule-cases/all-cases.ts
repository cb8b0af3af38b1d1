import { aliasCases } from './alias-cases.ts';
import { creationCases } from './creation-cases.ts';
import { groupCases } from './group-cases.ts';
import { identifyCases } from './identify-cases.ts';
import { illegalIdCases } from './illegal-id-cases.ts';
import { rowCases } from './row-cases.ts';
import { caseNumber, type RuleCase } from './rule-case.ts';
import { updateCases } from './update-cases.ts';

/** Examples for all rules, with the case numbers in docs/cases.md#ingestion. */
export const ruleCases: Record<string, RuleCase[]> = {
  'creating a person': creationCases,
  'updating a person': updateCases,
  $identify: identifyCases,
  '$create_alias and $merge_dangerously': aliasCases,
  'illegal distinct IDs': illegalIdCases,
  'the event row': rowCases,
  groups: groupCases,
};

export function titleOf(ruleCase: RuleCase): string {
  const numbers = ruleCase.no?.map((no) => `${caseNumber(no)} `).join('') ?? '';
  return `${numbers}${ruleCase.is}`;
}
