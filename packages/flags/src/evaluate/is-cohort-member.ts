import type { CohortNode } from '../compile/compiled.ts';
import { type Evaluation, negate, type Outcome } from './evaluation.ts';
import { testProperty } from './test-property.ts';

/** Whether the person belongs to a cohort; asked once per evaluation. */
export function isCohortMember(cohortId: number, evaluation: Evaluation): Outcome {
  const known = evaluation.membership.get(cohortId);
  if (known !== undefined) return known;
  const outcome = findMembership(cohortId, evaluation);
  evaluation.membership.set(cohortId, outcome);
  return outcome;
}

function findMembership(cohortId: number, evaluation: Evaluation): Outcome {
  const cohort = evaluation.flags.cohorts.get(cohortId);
  if (cohort === undefined) return 'dependency_not_found_cohort';
  if (cohort.problem !== null) return cohort.problem;
  if (!cohort.isStatic) return testNode(cohort.node, evaluation);
  const { staticCohorts } = evaluation.context.stored;
  return staticCohorts === 'unavailable' ? 'database_error' : staticCohorts.has(cohortId);
}

function testNode(node: CohortNode, evaluation: Evaluation): Outcome {
  switch (node.kind) {
    case 'never':
      return false;
    case 'property': {
      const outcome = testProperty(node.filter, evaluation);
      return node.negated ? negate(outcome) : outcome;
    }
    case 'cohort': {
      const outcome = isCohortMember(node.cohortId, evaluation);
      return node.negated ? negate(outcome) : outcome;
    }
    default:
      return testNodes(node, evaluation);
  }
}

/** The first member that decides ends it: one that fails `every`, one that meets `some`. */
function testNodes({ kind, nodes }: Extract<CohortNode, { nodes: unknown }>, evaluation: Evaluation): Outcome {
  const deciding = kind === 'some';
  let unknown: Outcome = !deciding;
  for (const node of nodes) {
    const outcome = testNode(node, evaluation);
    if (outcome === deciding) return outcome;
    if (typeof outcome !== 'boolean') unknown = outcome;
  }
  return unknown;
}
