import type { CaseFlag } from './flag-cases.ts';

/** Sorts flags so that dependencies come before the flags that depend on them. In a cycle, any flag may come first. */
export function sortByDependency(flags: readonly CaseFlag[]): CaseFlag[] {
  const byKey = new Map(flags.map((flag) => [flag.key, flag]));
  const ordered = new Set<CaseFlag>();
  const visiting = new Set<CaseFlag>();
  function visit(flag: CaseFlag): void {
    if (visiting.has(flag)) return;
    visiting.add(flag);
    for (const key of dependenciesOf(flag)) {
      const target = byKey.get(key);
      if (target !== undefined) visit(target);
    }
    ordered.add(flag);
  }
  flags.forEach(visit);
  return [...ordered];
}

function dependenciesOf({ filters }: CaseFlag): string[] {
  return filters.groups.flatMap(({ properties = [] }) =>
    properties.flatMap(({ type, key }) => (type === 'flag' ? [key] : [])),
  );
}
