import { measureStory } from './measure-story.ts';
import type { Story } from './story.ts';

/** Every node is emptied in turn, as for its maintenance. */
export const drainStory: Story = {
  name: 'drain of every node in turn',
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
