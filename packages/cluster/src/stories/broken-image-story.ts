import { measureStory } from './measure-story.ts';
import type { Story } from './story.ts';

/** A version that starts and never becomes ready: the old pods have to stay. */
export const brokenImageStory: Story = {
  name: 'an image that never becomes ready',
  run: ({ release, setting, tags }) =>
    measureStory('broken', setting, async () => {
      const image = { tag: tags.broken };
      const all = {
        gateway: { image },
        managementApi: { image },
        deliveryWorker: { image },
        consumers: { live: { image } },
      };
      const before = (await release.pods('gateway')).map(({ name }) => name);
      const { status } = await release.tryToDeploy(all, { timeoutSeconds: 40 });
      if (status === 0) throw new Error('helm took an image that never became ready for a success');
      const kept = (await release.pods('gateway')).filter(({ name, isReady }) => isReady && before.includes(name));
      await release.rollback();
      await release.settled();
      return `${kept.length} of ${before.length} gateways kept serving; helm failed after its patience, then rolled back`;
    }),
};
