import { measureStory } from './measure-story.ts';
import type { Story } from './story.ts';

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;

/** Everything is replaced by another version, and then by the first one again. */
export const upgradeStory: Story = {
  name: 'rolling upgrade and rollback',
  run: ({ release, setting, tags }) =>
    measureStory('upgrade', setting, async () => {
      const upgrade = await release.deploy({ image: { tag: tags.next } });
      await release.settled();
      const rollback = await release.rollback();
      await release.settled();
      return `upgrade ${seconds(upgrade)}, rollback ${seconds(rollback)}`;
    }),
};
