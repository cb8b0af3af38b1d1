import { filtersIn } from './filters-in.ts';

/** Longer chains are left to the server: written out for each flag, they would grow with the square of their length. */
const longestChain = 100;

/** A flag that another one asks about. */
export interface DependencyTarget {
  key: string;
  /** Keys in the order of evaluation, the target last; empty where SDKs have to ask the server. */
  chain: string[];
}

interface Flag {
  id: number;
  key: string;
  filters: unknown;
}

/** Finds the target of a dependency by its id; undefined when there is none. */
export function createDependencyChains(flags: readonly Flag[]): (targetId: string) => DependencyTarget | undefined {
  const byId = new Map(flags.map((flag) => [String(flag.id), flag]));
  const targets = new Map<string, DependencyTarget>();
  return (targetId) => {
    const flag = byId.get(targetId);
    if (flag === undefined) return undefined;
    const known = targets.get(targetId) ?? { key: flag.key, chain: chainOf(flag, byId) };
    targets.set(targetId, known);
    return known;
  };
}

/** Empty for a circle, a flag that is not there, and what is too long. */
function chainOf(target: Flag, byId: ReadonlyMap<string, Flag>): string[] {
  const chain: string[] = [];
  const visited = new Map<string, 'open' | 'done'>();
  return visit(target) ? chain : [];

  function visit(flag: Flag): boolean {
    const id = String(flag.id);
    if (visited.get(id) === 'done') return true;
    if (visited.has(id) || visited.size >= longestChain) return false;
    visited.set(id, 'open');
    for (const targetId of dependenciesOf(flag)) {
      const next = byId.get(targetId);
      if (next === undefined || !visit(next)) return false;
    }
    visited.set(id, 'done');
    chain.push(flag.key);
    return true;
  }
}

function dependenciesOf({ filters }: Flag): string[] {
  return filtersIn(filters).flatMap(({ type, key }) => (type === 'flag' ? [String(key)] : []));
}
