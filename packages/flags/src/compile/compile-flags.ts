import { timeZone } from '@millrace/schedule';
import type { ProjectDefinitions } from '../definitions.ts';
import type { TestOptions } from '../filters/value-test.ts';
import { compileCohorts } from './compile-cohorts.ts';
import { compileFlag } from './compile-flag.ts';
import type { CompiledFlags } from './compiled.ts';
import { dependencyOrder } from './dependency-order.ts';
import { needsOf } from './flag-needs.ts';

/**
 * Makes a project's definitions ready for evaluation. Never throws, whatever `filters` hold: what makes no sense matches
 * nothing. Costs time in proportion to the definitions; done once per version of them.
 */
export function compileFlags(definitions: ProjectDefinitions): CompiledFlags {
  const options: TestOptions = {
    matchingVersion: definitions.matchingVersion,
    zone: timeZone(definitions.timeZone),
  };
  const cohorts = compileCohorts(definitions.cohorts, options);
  const present = definitions.flags.filter(({ deleted }) => deleted !== true);
  const active = present.filter((flag) => flag.active).map((flag) => compileFlag(flag, options));
  const inactive = new Set(present.filter((flag) => !flag.active).map(({ id }) => id));
  const inOrder = dependencyOrder(active, inactive).map(({ flag, brokenDependency }) => ({
    ...flag,
    brokenDependency,
    needs: needsOf(flag, cohorts),
  }));
  return {
    inOrder,
    byKey: new Map(inOrder.map((flag) => [flag.key, flag])),
    cohorts,
    groupTypes: new Map(Object.entries(definitions.groupTypes).map(([index, name]) => [Number(index), name])),
  };
}
