import { eventually } from '@millrace/testing';
import { createOffsetReader } from '@millrace/testing/offset-reader';
import type { Pod, Release } from './release.ts';
import { measureStory, type Story } from './story.ts';

const scaledObject = 'scaledobject/millrace-consumer-live';
const hpa = 'horizontalpodautoscaler.autoscaling/millrace-consumer-live';
/**
 * The backlog is too large for a single consumer to process before more consumers start. KEDA and the autoscaler check
 * only every few seconds.
 */
const backlog = 240_000;
const patience = { timeoutMs: 300_000, intervalMs: 1000 };

/**
 * KEDA scales consumers by their backlog: from at least two consumers to four during a backlog, and to one after the
 * backlog.
 */
export const scaleStory: Story = {
  name: 'consumers scaled by lag from 2 to 4 to 1',
  run: ({ release, stores, setting, print }) =>
    measureStory('scale', setting, async (load) => {
      const offsets = createOffsetReader(stores.kafka.address, stores.database, '');
      const lag = async () => {
        await offsets.readEnds();
        await offsets.readOffsets();
        return offsets.lag();
      };
      const see = (count: number) =>
        eventually(async () => (await release.pods('consumer-live')).filter(isWorking).length === count, {
          what: `the work of ${count} consumers`,
          ...patience,
        });
      try {
        await patch(release, { ...withoutPatience, minReplicaCount: 2 });
        await see(2);
        print('  two consumers');
        // Stop all consumers while the backlog grows.
        await pause(release, 'true');
        await release.kubectl('scale', 'deployment/millrace-consumer-live', '--replicas=0');
        await eventually(async () => (await lag()) > backlog, { what: 'a backlog', ...patience });
        await patch(release, { minReplicaCount: 1 });
        await pause(release, null);
        const startedAt = performance.now();
        const secondsSince = () => Math.round((performance.now() - startedAt) / 1000);
        await see(4);
        const four = secondsSince();
        print(`  four consumers after ${four} s`);
        await load.stop();
        await eventually(async () => (await lag()) === 0, { what: 'the end of the backlog', ...patience });
        const done = secondsSince();
        await see(1);
        const one = secondsSince();
        await release.deploy();
        return `With a backlog of ${backlog} records, there were four consumers after ${four} s, the backlog was processed after ${done} s, and there was one consumer after ${one} s. KEDA's time windows were shortened to seconds.`;
      } finally {
        await offsets.stop();
      }
    }),
};

/**
 * Use a fast policy, because a story has only a few minutes. The chart's policy is slow on purpose, because every
 * change moves partitions.
 */
const policies = [{ type: 'Pods', value: 4, periodSeconds: 15 }];
const behavior = {
  scaleUp: { stabilizationWindowSeconds: 0, policies },
  scaleDown: { stabilizationWindowSeconds: 15, policies },
};
const withoutPatience = { advanced: { horizontalPodAutoscalerConfig: { behavior } } };

async function patch(release: Release, spec: Record<string, unknown>): Promise<void> {
  await release.kubectl('patch', scaledObject, '--type=merge', '-p', JSON.stringify({ spec }));
}

/** Pauses KEDA with its own annotation. Null resumes KEDA. */
async function pause(release: Release, value: 'true' | null): Promise<void> {
  const metadata = { annotations: { 'autoscaling.keda.sh/paused': value } };
  await release.kubectl('patch', scaledObject, '--type=merge', '-p', JSON.stringify({ metadata }));
  await eventually(async () => (await release.kubectl('get', 'hpa', '-o', 'name')).includes(hpa) === (value === null), {
    what: `KEDA ${value === null ? 'at work again' : 'out of the way'}`,
  });
}

const isWorking = ({ isReady, isEnding }: Pod) => isReady && !isEnding;
