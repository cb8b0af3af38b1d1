import { timeZone } from '@millrace/schedule';
import type { ProjectDefinitions } from '../definitions.ts';
import type { TestOptions } from '../filters/value-test.ts';
import { runSteps, type Steps } from '../steps.ts';
import { compileCohorts } from './compile-cohorts.ts';
import { compileFlag } from './compile-flag.ts';
import type { CompiledFlag, CompiledFlags } from './compiled.ts';
import { dependencyOrder } from './dependency-order.ts';
import { needsOf } from './flag-needs.ts';

/**
 * Makes a project's definitions ready for evaluation. Never throws, whatever `filters` hold: what makes no sense matches
 * nothing. Costs time in proportion to the definitions; done once per version of them.
 */
export function compileFlags(definitions: ProjectDefinitions): CompiledFlags {
  return runSteps(compileFlagsInSteps(definitions));
}

/** The same, a step for each cohort and flag. */
export function* compileFlagsInSteps(definitions: ProjectDefinitions): Steps<CompiledFlags> {
  const options: TestOptions = {
    matchingVersion: definitions.matchingVersion,
    zone: timeZone(definitions.timeZone),
  };
  const cohorts = yield* compileCohorts(definitions.cohorts, options);
  const present = definitions.flags.filter(({ deleted }) => deleted !== true);
  const active: CompiledFlag[] = [];
  for (const flag of present) {
    if (flag.active) active.push(compileFlag(flag, options));
    yield;
  }
  const inactive = new Set(present.filter((flag) => !flag.active).map(({ id }) => id));
  const inOrder: CompiledFlag[] = [];
  for (const { flag, brokenDependency } of dependencyOrder(active, inactive)) {
    flag.brokenDependency = brokenDependency;
    flag.needs = needsOf(flag, cohorts);
    inOrder.push(flag);
    yield;
  }
  return {
    inOrder,
    byKey: new Map(inOrder.map((flag) => [flag.key, flag])),
    cohorts,
    groupTypes: new Map(Object.entries(definitions.groupTypes).map(([index, name]) => [Number(index), name])),
  };
}
