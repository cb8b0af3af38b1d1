// Stories in which pods go: by the emptying of their nodes, and by force.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '@millrace/testing';
import type { Release } from './release.ts';
import { measureStory, type Story } from './story.ts';

/** Every node is emptied in turn, as for its maintenance. */
export const drainStory: Story = {
  name: 'every node drained, one at a time',
  run: ({ cluster, release, setting }) =>
    measureStory('drain', setting, async () => {
      let moved = 0;
      for (const { name } of cluster.nodes) {
        moved += (await release.pods()).filter(({ node }) => node === name).length;
        await release.kubectl('drain', name, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s');
        await release.settled();
        await release.kubectl('uncordon', name);
      }
      return `${moved} pods moved`;
    }),
};

/** kill -9 of every pod in turn, the next when the one before is back. */
export const killStory: Story = {
  name: 'every pod killed (kill -9), one at a time',
  run: ({ release, setting }) =>
    measureStory('kill', setting, async () => {
      let killed = 0;
      for (const pod of (await release.pods()).filter(({ isEnding }) => !isEnding)) {
        killed += 1;
        for (const container of pod.containers) killContainer(container);
        await eventually(() => isBack(release, pod.name, pod.containers), { what: `the return of ${pod.name}` });
      }
      return `${killed} pods killed`;
    }),
};

/** Ready, and not the containers that were killed; or gone, because it was one too many meanwhile. */
async function isBack(release: Release, name: string, killed: readonly string[]): Promise<boolean> {
  const pod = (await release.pods()).find((one) => one.name === name);
  if (pod === undefined || pod.isEnding) return true;
  return pod.isReady && !pod.containers.some((container) => killed.includes(container));
}

/** SIGKILL for every process of a container: containers of this cluster are seen from its own namespace of processes. */
function killContainer(id: string): number {
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
