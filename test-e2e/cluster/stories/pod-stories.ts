import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '@millrace/testing';
import type { Release } from './release.ts';
import { measureStory, type Story } from './story.ts';

/** Drains one node after the other, as an operator does for maintenance. */
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

/** Kills one pod at a time with SIGKILL. Waits until the pod is ready again before killing the next pod. */
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

/** Returns whether a pod is ready with new containers, or was removed because the deployment was scaled down. */
async function isBack(release: Release, name: string, killed: readonly string[]): Promise<boolean> {
  const pod = (await release.pods()).find((one) => one.name === name);
  if (pod === undefined || pod.isEnding) return true;
  return pod.isReady && !pod.containers.some((container) => killed.includes(container));
}

/** Sends SIGKILL to all processes in a container. They are visible in the cluster's process namespace. */
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
    // The process has already ended.
    return '';
  }
}
