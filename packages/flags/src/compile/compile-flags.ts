// Prepares a project's flags and cohorts for evaluation, and sorts the flags so that each flag follows its
// dependencies.

import { createTimeZone } from '@millrace/schedule';
import type { ProjectDefinitions } from '../definitions.ts';
import type { TestOptions } from '../filters/value-operators.ts';
import { runSteps, type Steps } from '../steps.ts';
import { compileCohorts } from './compile-cohorts.ts';
import { compileFlag } from './compile-flag.ts';
import type { CompiledFlag, CompiledFlags } from './compiled.ts';
import { collectFlagNeeds } from './flag-needs.ts';

/**
 * Prepares a project's definitions for evaluation, once per version of the definitions. Never throws, even for invalid
 * `filters`, which match nothing. Takes time in proportion to the size of the definitions.
 */
export function compileFlags(definitions: ProjectDefinitions): CompiledFlags {
  return runSteps(compileFlagsInSteps(definitions));
}

/** Like `compileFlags`, but yields after each cohort and flag. */
export function* compileFlagsInSteps(definitions: ProjectDefinitions): Steps<CompiledFlags> {
  const options: TestOptions = {
    matchingVersion: definitions.matchingVersion,
    zone: createTimeZone(definitions.timeZone),
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
    flag.needs = collectFlagNeeds(flag, cohorts);
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

interface OrderedFlag {
  flag: CompiledFlag;
  brokenDependency: CompiledFlag['brokenDependency'];
}

type Visit = { state: 'open' } | { state: 'done'; broken: CompiledFlag['brokenDependency'] };

/**
 * Sorts flags so that each one follows its dependencies. Finds flags that cannot be evaluated because a dependency is
 * missing, circular, or cannot be evaluated.
 * @param flags the active flags
 * @param inactive the IDs of inactive flags, which count as `false` for the flags that depend on them
 */
function dependencyOrder(flags: CompiledFlag[], inactive: ReadonlySet<number>): OrderedFlag[] {
  const byId = new Map(flags.map((flag) => [flag.id, flag]));
  const visits = new Map<number, Visit>();
  const ordered: OrderedFlag[] = [];
  for (const flag of flags) visit(flag);
  return ordered;

  /** Avoid recursion, which could exhaust the stack, because a chain may contain all of the project's flags. */
  function visit(start: CompiledFlag): void {
    const path = [{ flag: start, next: 0, broken: null as CompiledFlag['brokenDependency'] }];
    if (visits.has(start.id)) return;
    visits.set(start.id, { state: 'open' });
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const dependency = top.flag.dependencies[top.next];
      if (dependency === undefined) {
        close(top.flag, top.broken);
        path.pop();
        continue;
      }
      const target = byId.get(dependency);
      const known = visits.get(dependency);
      if (target !== undefined && known === undefined) {
        visits.set(dependency, { state: 'open' });
        path.push({ flag: target, next: 0, broken: null });
        continue;
      }
      top.next += 1;
      top.broken = worse(top.broken, brokenBy(target, known, dependency));
    }
  }

  function brokenBy(
    target: CompiledFlag | undefined,
    known: Visit | undefined,
    id: number,
  ): CompiledFlag['brokenDependency'] {
    if (target === undefined) return inactive.has(id) ? null : 'missing';
    return known?.state === 'done' ? known.broken : 'cycle';
  }

  function close(flag: CompiledFlag, broken: CompiledFlag['brokenDependency']): void {
    visits.set(flag.id, { state: 'done', broken });
    ordered.push({ flag, brokenDependency: broken });
  }
}

function worse(a: CompiledFlag['brokenDependency'], b: CompiledFlag['brokenDependency']) {
  return a === 'cycle' || b === 'cycle' ? 'cycle' : (a ?? b);
}
