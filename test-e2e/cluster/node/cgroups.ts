import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const mountPoint = '/sys/fs/cgroup';

/** Returns the control group hierarchies: one in cgroup v2, or one for each controller in v1. */
function hierarchies(): string[] {
  if (existsSync(join(mountPoint, 'cgroup.controllers'))) return [mountPoint];
  return readdirSync(mountPoint)
    .map((name) => join(mountPoint, name))
    .filter((path) => existsSync(join(path, 'cgroup.procs')));
}

/** Creates the control group for a kubelet's pods, without which the kubelet cannot start. */
export function createCgroup(path: string): void {
  for (const hierarchy of hierarchies()) {
    let parent = hierarchy;
    for (const name of path.split('/')) {
      const group = join(parent, name);
      if (hierarchy === mountPoint) delegate(parent);
      mkdirSync(group, { recursive: true });
      if (hierarchy.endsWith('/cpuset')) inheritCpus(parent, group);
      if (parent === hierarchy) weigh(group);
      parent = group;
    }
    if (hierarchy === mountPoint) delegate(parent);
  }
}

/**
 * Gives all pods together the CPU weight of a dozen processes. By default, they would have the weight of one process.
 */
function weigh(group: string): void {
  for (const [file, weight] of [
    ['cpu.shares', 12 * 1024],
    ['cpu.weight', 12 * 100],
  ] as const) {
    if (existsSync(join(group, file))) writeFileSync(join(group, file), String(weight));
  }
}

function delegate(group: string): void {
  const controllers = readFileSync(join(group, 'cgroup.controllers'), 'utf8').trim().split(' ').filter(Boolean);
  writeFileSync(join(group, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
}

/** Assigns the parent's CPUs to a new control group, which has no CPUs by default. */
function inheritCpus(parent: string, group: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    if (readFileSync(join(group, file), 'utf8').trim() !== '') continue;
    writeFileSync(join(group, file), readFileSync(join(parent, file)));
  }
}

const patienceMs = 10_000;

/** Removes a control group and its child groups after all of their processes have ended. */
export async function removeCgroup(name: string): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (const hierarchy of hierarchies()) {
    while (!isRemoved(join(hierarchy, name)) && Date.now() < deadline) await sleep(100);
  }
}

function isRemoved(directory: string): boolean {
  if (!existsSync(directory)) return true;
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const areGone = below.map(({ name }) => isRemoved(join(directory, name)));
  if (areGone.includes(false)) return false;
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return false;
    throw error;
  }
}
