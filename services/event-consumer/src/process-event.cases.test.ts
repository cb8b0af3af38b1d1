import { aliasCases } from './rule-cases/alias-cases.ts';
import { checkRuleCase } from './rule-cases/check-rule-case.ts';
import { creationCases } from './rule-cases/creation-cases.ts';
import { groupCases } from './rule-cases/group-cases.ts';
import { identifyCases } from './rule-cases/identify-cases.ts';
import { illegalIdCases } from './rule-cases/illegal-id-cases.ts';
import { notHere } from './rule-cases/not-here.ts';
import { rowCases } from './rule-cases/row-cases.ts';
import type { RuleCase } from './rule-cases/rule-case.ts';
import { updateCases } from './rule-cases/update-cases.ts';

/** The rules as examples. A number is that of the case in reference/event-processing.md section 16. */
const sections: Record<string, RuleCase[]> = {
  'creating a person': creationCases,
  'updating a person': updateCases,
  $identify: identifyCases,
  '$create_alias and $merge_dangerously': aliasCases,
  'illegal distinct ids': illegalIdCases,
  'the event row': rowCases,
  groups: groupCases,
};

for (const [section, cases] of Object.entries(sections)) {
  describe(section, () => {
    test.each(cases.map((ruleCase) => [titleOf(ruleCase), ruleCase] as const))('%s', (_, ruleCase) => {
      checkRuleCase(ruleCase);
    });
  });
}

test('every numbered case is played here or is somebody else’s, with the reason', () => {
  const played = Object.values(sections).flatMap((cases) => cases.flatMap((ruleCase) => ruleCase.no ?? []));
  const others = notHere.flatMap(({ no }) => no);
  expect(others.filter((no) => played.includes(no))).toEqual([]);
  const all = [...new Set([...played, ...others])].sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: 143 }, (_, index) => index + 1));
});

function titleOf(ruleCase: RuleCase): string {
  const numbers = ruleCase.no?.map((no) => `E-${no} `).join('') ?? '';
  return `${numbers}${ruleCase.is}`;
}
