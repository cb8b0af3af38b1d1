import { readdirSync, readFileSync } from 'node:fs';

/** SIGKILL for every process of a container: containers of this cluster are seen from its own namespace of processes. */
export function killContainer(id: string): number {
  let killed = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (!groupsOf(pid).includes(id)) continue;
    process.kill(Number(pid), 'SIGKILL');
    killed += 1;
  }
  return killed;
}

function groupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    // It has ended in between.
    return '';
  }
}
