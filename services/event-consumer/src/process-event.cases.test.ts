import { ruleCases, titleOf } from './rule-cases/all-cases.ts';
import { checkRuleCase } from './rule-cases/check-rule-case.ts';
import { decidedElsewhere } from './rule-cases/decided-elsewhere.ts';

for (const [section, cases] of Object.entries(ruleCases)) {
  describe(section, () => {
    test.each(cases.map((ruleCase) => [titleOf(ruleCase), ruleCase] as const))('%s', (_, ruleCase) => {
      checkRuleCase(ruleCase);
    });
  });
}

test('every numbered ingestion case is tested here or listed as decided elsewhere, with the reason', () => {
  const played = Object.values(ruleCases).flatMap((cases) => cases.flatMap((ruleCase) => ruleCase.no ?? []));
  const others = decidedElsewhere.flatMap(({ no }) => no);
  expect(others.filter((no) => played.includes(no))).toEqual([]);
  const all = [...new Set([...played, ...others])].sort((a, b) => a - b);
  expect(all).toEqual(Array.from({ length: 143 }, (_, index) => index + 1));
});
