import { eventually } from '@millrace/testing';
import { killContainer } from './kill-container.ts';
import { measureStory } from './measure-story.ts';
import type { Release } from './release.ts';
import type { Story } from './story.ts';

/** kill -9 of every pod in turn, the next when the one before is back. */
export const killStory: Story = {
  name: 'kill -9 of every pod in turn',
  run: ({ release, setting }) =>
    measureStory('kill', setting, async () => {
      let killed = 0;
      for (const pod of (await release.pods()).filter(({ isEnding }) => !isEnding)) {
        killed += 1;
        for (const container of pod.containers) killContainer(container);
        await eventually(() => isBack(release, pod.name, pod.containers), { what: `the return of ${pod.name}` });
      }
      return `${killed} pods`;
    }),
};

/** Ready, and not the containers that were killed; or gone, because it was one too many meanwhile. */
async function isBack(release: Release, name: string, killed: readonly string[]): Promise<boolean> {
  const pod = (await release.pods()).find((one) => one.name === name);
  if (pod === undefined || pod.isEnding) return true;
  return pod.isReady && !pod.containers.some((container) => killed.includes(container));
}
